import { describe, expect, it } from 'vitest';
import { checkSound } from '../../../src/renderer/lib/soundCheck.ts';
import { audio } from '../../../src/shared/domain/audio.ts';
import { clipped, join, noise, pieces, silence, tone } from '../../helpers/audio.ts';

/** Frames as a capture gives them. */
const framesOf = (pcm: Float32Array<ArrayBuffer>) =>
  pieces(pcm, audio.frameSamples)
    .filter(({ length }) => length === audio.frameSamples)
    .map((samples) => ({
      samples,
      clipped: samples.some((x) => Math.abs(x) >= audio.clipAt),
      zero: samples.every((x) => x === 0),
    }));
/** A room, a sentence in it, the room again. */
const sentence = (level: number, roomDb: number, gain = 1) => {
  const room = (ms: number, seed: number) => noise(roomDb, ms, 16_000, seed);
  return join(room(600, 1), clipped(tone(180, 2_000, 16_000, level), gain), room(600, 2));
};

describe('a recorded sentence', () => {
  it('good: loud enough, nothing cut off, a quiet room', () => {
    const check = checkSound(framesOf(sentence(0.2, -62)));
    expect(check).toMatchObject({ loudness: 'good', clipping: 'none', noise: 'quiet' });
    expect(check.level).toBeCloseTo(-17, 0);
    expect(check.floor).toBeCloseTo(-62, 0);
  });

  it('too far away, and a room that is nearly as loud', () => {
    expect(checkSound(framesOf(sentence(0.008, -48)))).toMatchObject({ loudness: 'low', noise: 'loud' });
  });

  it('some noise between the two', () => {
    expect(checkSound(framesOf(sentence(0.08, -40)))).toMatchObject({ loudness: 'good', noise: 'some' });
  });

  it('a wave with its tops cut off', () => {
    expect(checkSound(framesOf(sentence(0.5, -60, 6)))).toMatchObject({ loudness: 'clipped', clipping: 'much' });
  });

  it('one click at full scale is a little', () => {
    const pcm = sentence(0.2, -60);
    pcm.fill(1, 20_000, 20_004);
    expect(checkSound(framesOf(pcm))).toMatchObject({ loudness: 'good', clipping: 'some' });
  });

  it('zeros are no sound, and nothing is known of the room', () => {
    expect(checkSound(framesOf(silence(2_000)))).toEqual({
      loudness: 'none',
      level: null,
      clipping: 'none',
      noise: 'unknown',
      floor: null,
    });
  });

  it('nothing at all breaks nothing', () => {
    expect(checkSound([])).toMatchObject({ loudness: 'none', clipping: 'none', noise: 'unknown' });
  });
});
