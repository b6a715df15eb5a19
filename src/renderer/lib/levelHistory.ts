import { audio, msOf } from '../../shared/domain/audio.ts';
import { type Level, passesGate } from '../../shared/domain/voiceSignal.ts';

export type LevelSample = Level & { /** Loud enough, and heard as speech by what decides that. */ readonly speech: boolean };

/** What the waveform draws: the sound of the last four seconds, frame by frame (UX-114). It never leaves the page. */
export type LevelHistory = {
  /** @param hearing  whether the runtime says that someone speaks: loudness alone decides nothing (VO-14). */
  push(level: Level, hearing: boolean): void;
  /** Oldest first, at most four seconds. */
  samples(): readonly LevelSample[];
  latest(): LevelSample | null;
  /** Speech since the last `begin`. */
  speechMs(): number;
  begin(): void;
  /** The microphone is closed: what was heard is forgotten. */
  clear(): void;
  subscribe(listener: () => void): () => void;
};

export const frameMs = msOf(audio.frameSamples, audio.rateHz);
export const historyFrames = Math.round(4_000 / frameMs);

export function createLevelHistory(): LevelHistory {
  const listeners = new Set<() => void>();
  let samples: readonly LevelSample[] = [];
  let speechFrames = 0;
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  return {
    push(level, hearing) {
      const speech = hearing && passesGate(level.rms, level.floor);
      if (speech) speechFrames += 1;
      samples = [...samples.slice(-(historyFrames - 1)), { ...level, speech }];
      tell();
    },
    samples: () => samples,
    latest: () => samples.at(-1) ?? null,
    speechMs: () => speechFrames * frameMs,
    begin() {
      speechFrames = 0;
      tell();
    },
    clear() {
      samples = [];
      speechFrames = 0;
      tell();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
