import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSegmenter, type SegmentEvent } from '../../../../src/runtime/voice/hearing/segments.ts';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import { verifies } from '../../../helpers/verifies.ts';

const frameMs = 32;
const make = (thresholds: { onset?: number; offset?: number } = {}) =>
  createSegmenter({ ...voiceLimits, frameMs, onset: 0.5, offset: 0.35, ...thresholds });

/** Frames of one probability each, for so many ms. */
const of = (ms: number, probability: number): number[] => Array.from({ length: Math.round(ms / frameMs) }, () => probability);

function run(probabilities: readonly number[], segmenter = make()): { event: SegmentEvent; atMs: number }[] {
  return probabilities.flatMap((probability, i) =>
    segmenter.push(probability, probability / 10).map((event) => ({ event, atMs: (i + 1) * frameMs })),
  );
}
const types = (found: readonly { event: SegmentEvent }[]) => found.map(({ event }) => event.type);

describe('who speaks when (VO-15)', () => {
  it('onset starts, what lies between the two goes on, offset pauses, and only onset resumes', () => {
    verifies('VO-15');
    const segmenter = make();
    expect(run(of(320, 0.45), segmenter)).toEqual([]);
    expect(types(run([0.5], segmenter))).toEqual(['speech-start']);
    // Weaker than the onset, stronger than the offset: still speech, so no pause ever begins.
    expect(types(run(of(640, 0.4), segmenter))).not.toContain('speech-pause');
    expect(types(run(of(160, 0.34), segmenter))).toEqual(['speech-pause']);
    expect(types(run(of(64, 0.45), segmenter))).toEqual([]);
    expect(types(run([0.5], segmenter))).toEqual(['speech-active']);
  });

  it('takes the thresholds of the model that decides, not of another one', () => {
    expect(types(run(of(64, 0.55), make({ onset: 0.6, offset: 0.4 })))).toEqual([]);
    expect(types(run(of(64, 0.65), make({ onset: 0.6, offset: 0.4 })))).toEqual(['speech-start']);
  });

  it('ends a segment at the ceiling of silence, so that the model begins anew', () => {
    const segmenter = make();
    const found = run([...of(640, 0.9), ...of(3_200, 0)], segmenter);
    expect(found.at(-1)?.event).toEqual({ type: 'speech-end', speechDurationMs: 640 });
    expect(segmenter.pauseMs()).toBeNull();
    expect(types(run([0.9], segmenter))).toEqual(['speech-start']);
  });
});

describe('events (VO-16)', () => {
  it('speech and pause each say so again at every heartbeat, with their own lengths', () => {
    verifies('VO-16');
    const found = run([...of(640, 0.9), ...of(640, 0)]);
    expect(found.map(({ event }) => event)).toEqual([
      { type: 'speech-start', probability: 0.9 },
      { type: 'speech-active', probability: 0.9, speechDurationMs: 256 },
      { type: 'speech-active', probability: 0.9, speechDurationMs: 480 },
      { type: 'speech-pause', pauseDurationMs: 128 },
      { type: 'speech-pause', pauseDurationMs: 352 },
      { type: 'speech-pause', pauseDurationMs: 576 },
    ]);
  });

  it('says at once that speech goes on after a pause: a turn must not be ended in that moment', () => {
    const found = run([...of(640, 0.9), ...of(320, 0), 0.9]);
    expect(found.at(-1)).toEqual({ event: { type: 'speech-active', probability: 0.9, speechDurationMs: 672 }, atMs: 992 });
  });

  it('counts a number that is none as silence', () => {
    expect(types(run([Number.NaN, Number.POSITIVE_INFINITY]))).toEqual([]);
  });
});

describe('blips (VO-17)', () => {
  it('a click is a blip after its pause has begun, never a turn', () => {
    verifies('VO-17');
    const found = run([...of(96, 0.9), ...of(320, 0)]);
    expect(types(found)).toEqual(['speech-start', 'speech-pause', 'blip']);
    expect(found.at(-1)?.event).toMatchObject({ durationMs: 96, peakRms: 0.09 });
  });

  it('the voiced time counts in all: "stop" of two short parts is no blip', () => {
    const found = run([...of(128, 0.9), ...of(128, 0), ...of(96, 0.9), ...of(640, 0)]);
    expect(types(found)).not.toContain('blip');
  });

  it('200 ms are speech', () => {
    expect(types(run([...of(224, 0.9), ...of(640, 0)]))).not.toContain('blip');
  });
});

it('the same frames give the same events, however they are cut into calls', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 300 }),
      fc.integer({ min: 1, max: 64 }),
      (numbers, size) => {
        const one = make();
        const whole = numbers.flatMap((p) => one.push(p, 0));
        const other = make();
        const cut: SegmentEvent[] = [];
        for (let at = 0; at < numbers.length; at += size) for (const p of numbers.slice(at, at + size)) cut.push(...other.push(p, 0));
        expect(cut).toEqual(whole);
      },
    ),
  );
});
