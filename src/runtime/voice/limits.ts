import { audio } from '../../shared/domain/audio.ts';
import { summaryCharacters } from '../../shared/domain/voice.ts';

/** voice page, 15: numbers of voice. ms, samples and bytes; the row that gives the reason stands behind. */
export const voiceLimits = {
  preRollMs: audio.preRollMs,
  tailMs: audio.tailMs,
  /** VO-15: Silero v5; facts/speech.md 5: 0 of 30 missed at these two. */
  vadOnset: 0.5,
  vadOffset: 0.35,
  pauseStartMs: 100,
  heartbeatMs: 200,
  shortestSpeechMs: 200,
  longestMs: 120_000,
  armMs: 15_000,
  flushMs: 1_500,
  /** The last piece of a long utterance takes its time on a small or busy machine: so much more of a limit per second of it. */
  flushPerSecondMs: 200,
  /** VO-24: needed silence by probability that the turn is over. */
  silence: [
    { from: 0.8, ms: 300 },
    { from: 0.5, ms: 700 },
    { from: 0.3, ms: 1_200 },
    { from: 0, ms: 2_000 },
  ],
  silenceWithoutDetectorMs: 800,
  silenceCeilingMs: 3_000,
  /** VO-24: the person's own pause, with this to spare. */
  ownPauseFactor: 1.1,
  /** VO-30: shorter is a tap. */
  holdMs: 300,
  windowMs: 8_000,
  wordWindowMs: 600,
  wordWindowExtendedMs: 1_500,
  guardMs: 1_000,
  joinMs: 1_500,
  idleMs: 10 * 60_000,
  /** VO-50. */
  speculateFrom: 0.6,
  /** Inputs that wait while a turn is committed: a press, its release and one speech start are what can truly come in 1.5 s. */
  deferredInputs: 8,
  /** VO-60, VO-61. */
  phraseMs: 700,
  firstPhraseMs: 350,
  /** VO-67. */
  summaryCharacters,
  /** VO-76. */
  latencyRecords: 200,
  /** VO-77. */
  baselineTurns: 20,
  slowerThanBaseline: 1.5,
  /** VO-78. */
  earconMs: 1_500,
} as const;
