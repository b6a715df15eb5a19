import type { AudioFrame } from '../../shared/domain/audio.ts';
import { audio, msOf } from '../../shared/domain/audio.ts';
import { dbfs, followSignal, initialSignal, type LevelWord, levelWord, measureFrame, noiseFloor } from '../../shared/domain/voiceSignal.ts';

/** What a recorded sentence tells of the microphone, a word for each (UX-19). Levels in dBFS, `null` = not known. */
export type SoundCheck = {
  readonly loudness: LevelWord;
  readonly level: number | null;
  readonly clipping: 'none' | 'some' | 'much';
  readonly noise: 'unknown' | 'quiet' | 'some' | 'loud';
  readonly floor: number | null;
};

/** The loud tenth of a sentence is its vowels; pauses and consonants pull any average down. */
const voiced = 0.9;
/** From this share of frames on, clipping is heard. */
const muchClipped = 0.02;
/** Distance of speech and room in dB: the recogniser errs little from 20 dB on and often below 10 (facts/speech.md). */
const noiseDb = { quiet: 20, some: 10 } as const;
/** A room below this is quiet, however softly somebody speaks in it. */
const quietFloorDb = -55;

/**
 * Judges a recording without any model (VO-11).
 *
 * @param frames  what the microphone gave, in order; not changed.
 */
export function checkSound(frames: readonly Pick<AudioFrame, 'samples' | 'clipped' | 'zero'>[]): SoundCheck {
  const frameMs = msOf(audio.frameSamples, audio.rateHz);
  let signal = initialSignal;
  const levels: number[] = [];
  for (const { samples, clipped, zero } of frames) {
    const measured = { ...measureFrame(samples), clipped, zeros: zero };
    signal = followSignal(signal, measured, frameMs);
    levels.push(measured.rms);
  }
  levels.sort((a, b) => a - b);
  const rms = levels[Math.min(levels.length - 1, Math.floor(levels.length * voiced))] ?? 0;
  const clipping = signal.clippedFrames === 0 ? 'none' : signal.clippedFrames / frames.length < muchClipped ? 'some' : 'much';
  const level = dbfs(rms);
  const lowest = noiseFloor(signal);
  const floor = lowest === null ? null : dbfs(lowest);
  return {
    loudness: levelWord({ rms, zeros: !signal.soundArrived, clipped: clipping === 'much' }),
    level,
    clipping,
    noise: noiseWord(level, floor),
    floor,
  };
}

function noiseWord(level: number | null, floor: number | null): SoundCheck['noise'] {
  if (level === null || floor === null) return 'unknown';
  const apart = level - floor;
  if (floor < quietFloorDb || apart >= noiseDb.quiet) return 'quiet';
  return apart >= noiseDb.some ? 'some' : 'loud';
}
