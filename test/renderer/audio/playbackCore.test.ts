// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlaybackCore, type PlaybackEvent } from '../../../src/renderer/audio/playbackCore.ts';
import type { SoundChunk } from '../../../src/shared/domain/audio.ts';
import { alike, chirp, join, peak, pieces, resample, silence, tone } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';

function core(rateHz = 48_000) {
  const events: PlaybackEvent[] = [];
  const made = createPlaybackCore(rateHz, 128, (event) => events.push(event));
  let frame = 0;
  const parts: Float32Array[] = [];
  return {
    ...made,
    events,
    /** Runs whole quanta. */
    run(quanta: number): Float32Array {
      const out: Float32Array[] = [];
      for (let i = 0; i < quanta; i += 1) {
        const part = new Float32Array(128);
        made.process(part, frame);
        frame += 128;
        out.push(part);
      }
      parts.push(...out);
      return join(...out);
    },
    frame: () => frame,
    sink: () => join(...parts),
    kinds: () => events.map(({ type }) => type),
    done: () => events.flatMap((event) => (event.type === 'played' && event.done ? [event] : [])),
  };
}

const chunk = (phrase: number, pcm: Float32Array<ArrayBuffer>, more: Partial<SoundChunk> = {}): SoundChunk => ({
  generation: 1,
  phrase,
  last: true,
  range: { from: phrase * 10, to: phrase * 10 + 9 },
  rateHz: 24_000,
  pcm,
  ...more,
});

const jump = (pcm: Float32Array) => pcm.reduce((most, x, i) => Math.max(most, i === 0 ? 0 : Math.abs(x - (pcm[i - 1] ?? 0))), 0);

describe('playback', () => {
  it('what is queued is what sounds, at the loudspeaker’s rate, however it was cut', () => {
    const said = chirp(200, 4_000, 500, 24_000);
    const wanted = resample(said, 24_000, 48_000);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 5 }), (sizes) => {
        const one = core();
        const cut = pieces(said, ...sizes);
        cut.forEach((pcm, i) => one.enqueue(chunk(1, pcm, { last: i === cut.length - 1 })));
        one.finish(1);
        one.run(200);
        const sink = one.sink();
        // Exactly the same after the ramp of the first quantum, joins included.
        for (let i = 128; i < wanted.length; i += 97) expect(sink[i]).toBe(wanted[i]);
        expect(peak(sink.subarray(wanted.length + 128))).toBe(0);
        expect(one.kinds().at(-1)).toBe('drained');
        expect(one.kinds()).not.toContain('underrun');
      }),
      { numRuns: 20 },
    );
  });

  it('VO-65: marks come in order, each with its text and the frame at which it had sounded', () => {
    verifies('VO-65');
    const one = core();
    for (const phrase of [1, 2, 3]) {
      one.enqueue(chunk(phrase, tone(300, 250, 24_000), { last: false, range: { from: phrase * 100, to: phrase * 100 + 5 } }));
      one.enqueue(chunk(phrase, tone(300, 150, 24_000), { range: { from: phrase * 100 + 5, to: phrase * 100 + 9 } }));
    }
    one.finish(1);
    one.run(500);
    expect(one.done().map(({ phrase, range, ms }) => [phrase, range.from, Math.round(ms)])).toEqual([
      [1, 100, 250],
      [1, 105, 400],
      [2, 200, 250],
      [2, 205, 400],
      [3, 300, 250],
      [3, 305, 400],
    ]);
    expect(one.done().map(({ frame }) => frame)).toEqual([11_999, 19_199, 31_199, 38_399, 50_399, 57_599]);
    const played = one.events.flatMap((event) => (event.type === 'played' ? [event] : []));
    expect(played.length).toBeGreaterThan(10);
    const times = played.map(({ phrase, ms }) => phrase * 1_000 + ms);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(one.events.at(-1)).toMatchObject({ type: 'drained', generation: 1 });
  });

  it('a stop is silence within one quantum, without a click, and says what was heard', () => {
    for (let quanta = 1; quanta < 60; quanta += 7) {
      const one = core();
      one.enqueue(chunk(4, tone(440, 2_000, 24_000, 0.9)));
      one.run(quanta);
      const at = one.frame();
      one.stop(1);
      const after = one.run(40);
      expect(peak(after.subarray(128))).toBe(0);
      expect(jump(one.sink())).toBeLessThan(0.07);
      const stopped = one.events.find(({ type }) => type === 'stopped');
      expect(stopped).toMatchObject({ type: 'stopped', heard: { generation: 1, phrase: 4, range: { from: 40, to: 49 } } });
      if (stopped?.type !== 'stopped') throw new Error('no stop');
      expect(stopped.frame).toBeLessThan(at + 128);
      expect(peak(one.sink().subarray(stopped.frame))).toBe(0);
      expect(stopped.heard?.ms).toBeCloseTo((stopped.frame / 48_000) * 1_000, 0);
      expect(one.kinds()).not.toContain('drained');
    }
  });

  it('VO-74: what belongs to a stopped answer is dropped, also when it comes late; a newer one is not touched', () => {
    const one = core();
    one.enqueue(chunk(1, tone(440, 500, 24_000)));
    one.run(20);
    one.stop(1);
    one.enqueue(chunk(2, tone(440, 500, 24_000)));
    expect(peak(one.run(40).subarray(128))).toBe(0);
    one.enqueue(chunk(3, tone(440, 500, 24_000)));
    expect(peak(one.run(40))).toBe(0);
    one.enqueue(chunk(1, tone(440, 500, 24_000), { generation: 2 }));
    expect(peak(one.run(10))).toBeGreaterThan(0.4);
    // A stop for the old answer that was held up on its way.
    one.stop(1);
    const rest = one.run(20);
    for (const part of pieces(rest, 256)) expect(peak(part)).toBeGreaterThan(0.4);
    one.finish(2);
    one.run(300);
    expect(one.events.at(-1)).toMatchObject({ type: 'drained', generation: 2 });
  });

  it('a pause is silent within one quantum and loses nothing but the ramp', () => {
    verifies('VO-65');
    const said = chirp(200, 2_000, 600, 48_000);
    const one = core();
    one.enqueue(chunk(1, said, { rateHz: 48_000 }));
    one.run(50);
    one.pause();
    expect(peak(one.run(100).subarray(128))).toBe(0);
    expect(one.kinds().at(-1)).toBe('paused');
    one.resume();
    one.finish(1);
    const rest = one.run(400);
    // 50 quanta, and the 127 samples of the ramp, had gone out; after the ramp in, it is the same sound.
    const from = 50 * 128 + 127;
    for (let i = 128; from + i < said.length; i += 53) expect(rest[i]).toBe(said[from + i]);
    expect(one.done().map(({ ms }) => Math.round(ms))).toEqual([600]);
    // Paused and then stopped: at once, with the place that it had.
    const two = core();
    two.enqueue(chunk(1, said.slice(), { rateHz: 48_000 }));
    two.run(50);
    two.pause();
    two.run(10);
    two.stop(1);
    expect(peak(two.run(1))).toBe(0);
    expect(two.events.at(-1)).toMatchObject({ type: 'stopped', frame: 60 * 128, heard: { phrase: 1 } });
  });

  it('a late chunk is an under-run: counted, faded out and in, and nothing is skipped', () => {
    const one = core();
    const said = tone(440, 400, 24_000, 0.9);
    one.enqueue(chunk(1, said.slice(0, 4_000), { last: false }));
    one.run(100);
    expect(one.kinds().filter((kind) => kind === 'underrun')).toEqual(['underrun']);
    one.enqueue(chunk(1, said.slice(4_000)));
    one.finish(1);
    one.run(200);
    expect(one.kinds().filter((kind) => kind === 'underrun').length).toBe(1);
    expect(jump(one.sink())).toBeLessThan(0.07);
    expect(one.done().map(({ ms }) => Math.round(ms))).toEqual([167, 400]);
  });

  it('an answer of nothing is over at once, and empty chunks have their marks', () => {
    const one = core();
    one.finish(1);
    one.run(1);
    expect(one.kinds()).toEqual(['drained']);
    one.enqueue(chunk(1, silence(0), { generation: 2 }));
    one.enqueue(chunk(2, tone(300, 20, 24_000), { generation: 2, last: false }));
    one.enqueue(chunk(3, tone(300, 20, 22_050), { generation: 2, rateHz: 22_050, last: false }));
    one.finish(2);
    one.run(40);
    expect(one.done().map(({ phrase }) => phrase)).toEqual([1, 2, 3]);
    expect(one.kinds().filter((kind) => kind === 'drained').length).toBe(2);
  });

  it('is bounded: what waits for more than five minutes is refused, and told', () => {
    const one = core();
    const minute = tone(300, 60_000, 8_000);
    for (let i = 0; i < 7; i += 1) one.enqueue(chunk(i, minute, { rateHz: 8_000 }));
    expect(one.events).toEqual([
      { type: 'refused', generation: 1, phrase: 5 },
      { type: 'refused', generation: 1, phrase: 6 },
    ]);
  });

  it('sounds like itself at the rates that voices have', () => {
    for (const rate of [16_000, 22_050, 24_000, 44_100]) {
      const one = core(44_100);
      one.enqueue(chunk(1, chirp(200, 3_000, 400, rate), { rateHz: rate }));
      one.finish(1);
      const out = one.run(150);
      expect(alike(out.subarray(200, 17_000), chirp(200, 3_000, 400, 44_100).subarray(200, 17_000)), `${rate}`).toBeGreaterThan(0.999);
    }
  });
});
