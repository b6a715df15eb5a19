// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CaptureEvent, createCaptureCore } from '../../../src/renderer/audio/captureCore.ts';
import { type AudioFrame, audio } from '../../../src/shared/domain/audio.ts';
import {
  alike,
  broken,
  chirp,
  clipped,
  find,
  join,
  noise,
  offset,
  peak,
  pieces,
  resample,
  rms,
  silence,
  tone,
} from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';

function core(rateHz = 48_000) {
  const events: CaptureEvent[] = [];
  const made = createCaptureCore(rateHz, (event) => events.push(event));
  const frames = () => events.flatMap((event) => (event.type === 'frame' ? [event.frame] : []));
  return {
    ...made,
    feed: (pcm: Float32Array) => {
      for (const piece of pieces(pcm, 128)) made.process(piece, 128);
    },
    events,
    frames,
    sound: () => join(...frames().map(({ samples }) => samples)),
    ends: () => events.filter(({ type }) => type === 'ended').length,
  };
}

const gaps = (frames: readonly AudioFrame[]) => frames.slice(1).map(({ captureMs }, i) => captureMs - (frames[i]?.captureMs ?? 0));

describe('capture', () => {
  it('VO-01: frames of 512 samples at 16 kHz, numbered, on a clock without holes, the same sound from every rate', () => {
    for (const rate of [8_000, 16_000, 44_100, 48_000, 192_000]) {
      const one = core(rate);
      one.begin(0);
      one.feed(chirp(200, 3_000, 1_000, rate));
      const frames = one.frames();
      expect(frames.length, `${rate}`).toBe(31);
      expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, i) => i));
      for (const step of gaps(frames)) expect(step).toBeCloseTo(32, 6);
      for (const { samples } of frames) expect(samples.length).toBe(audio.frameSamples);
      const wanted = chirp(200, 3_000, 1_000).subarray(0, 31 * 512);
      for (let at = 0; at < wanted.length; at += 4_096)
        expect(alike(one.sound().subarray(at, at + 4_096), wanted.subarray(at, at + 4_096)), `${rate} ${at}`).toBeGreaterThan(0.995);
    }
  });

  it('VO-03: no first word is cut off, for keys that come 0 to 300 ms after speech began, and none of the second before is lost', {
    timeout: 30_000,
  }, () => {
    verifies('VO-03');
    const word = join(chirp(300, 2_500, 250, 48_000), silence(600, 48_000));
    const quiet = noise(-50, 1_200, 48_000);
    const first = resample(word.subarray(0, 2_400), 48_000, 16_000);
    for (let late = 0; late <= 300; late += 3) {
      const one = core();
      one.feed(quiet.subarray(0, (1_100 + (late % 32)) * 48));
      one.feed(word.subarray(0, late * 48));
      one.begin(audio.preRollMs);
      one.feed(word.subarray(late * 48));
      const expected = (audio.preRollMs - late) * 16;
      const found = find(first, one.sound(), expected - 100, expected + 600);
      expect(found.likeness, `${late} ms late`).toBeGreaterThan(0.97);
      // What lies before it is the pre-roll: at least what was promised, at most a frame more.
      const before = (found.at * 1_000) / audio.rateHz;
      expect(before + late).toBeGreaterThanOrEqual(audio.preRollMs - 2);
      expect(before + late).toBeLessThanOrEqual(audio.preRollMs + 34);
    }
  });

  it('the ring holds a second and no more, and nothing goes out that nobody asked for', () => {
    verifies('VO-03');
    const one = core();
    one.feed(noise(-30, 5_000, 48_000));
    expect(one.frames()).toEqual([]);
    expect(one.counts().held).toBeLessThanOrEqual(32 * 512 + 511);
    one.begin(60_000);
    expect(one.frames().length).toBe(32);
  });

  it('nothing is sent twice: a key right after another gets only what came between', () => {
    const one = core(16_000);
    const said = chirp(100, 5_000, 3_000);
    one.feed(said.subarray(0, 16_000));
    one.begin(400);
    one.feed(said.subarray(16_000, 24_000));
    one.end(0);
    one.feed(said.subarray(24_000, 27_000));
    one.begin(400);
    one.feed(said.subarray(27_000));
    const times = one.frames().map(({ captureMs }) => captureMs);
    expect(new Set(times).size).toBe(times.length);
    expect(one.frames().map(({ seq }) => seq)).toEqual(times.map((_, i) => i));
    expect(one.ends()).toBe(1);
  });

  it('VO-04: after the key goes up the tail is still sent, all of it, and then the end is told with its count', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 2_000 }), (tail, before) => {
        const one = core(16_000);
        one.begin(0);
        one.feed(noise(-20, before));
        const sent = one.counts().taken;
        one.end(tail);
        one.feed(noise(-20, 1_000));
        const end = one.events.findLast(({ type }) => type === 'ended');
        expect(end).toEqual({ type: 'ended', frames: one.frames().length });
        const missing = one.frames().length * 512 - (sent + tail * 16);
        // Never less than asked for, at most one frame more.
        expect(missing).toBeGreaterThan(-17);
        expect(missing).toBeLessThanOrEqual(512);
      }),
      { numRuns: 60 },
    );
  });

  it('VO-09: closed by a mute, a minute of tone leaves no sample anywhere', () => {
    const secondOfTone = tone(440, 1_000, 48_000);
    const one = core();
    one.begin(0);
    one.feed(tone(440, 500, 48_000));
    const before = one.counts().taken;
    const told = one.events.length;
    one.close(false);
    // The end of what was being said, and nothing of its unfinished frame.
    expect(one.events.slice(told)).toEqual([{ type: 'ended', frames: 15 }]);
    for (let second = 0; second < 60; second += 1) one.feed(secondOfTone);
    one.begin(1_000);
    one.feed(tone(440, 1_000, 48_000));
    expect(one.counts()).toMatchObject({ taken: before, held: 0 });
    expect(one.events.length).toBe(told + 1);
  });

  it('RB-59: a device that is gone in the middle of a word loses none of it', () => {
    const one = core(16_000);
    const said = chirp(200, 2_000, 700);
    one.begin(0);
    one.feed(said);
    one.close(true);
    const frames = one.frames();
    expect(frames.length).toBe(Math.ceil(said.length / 512));
    expect(frames.at(-1)).toMatchObject({ gap: true });
    expect(alike(one.sound().subarray(0, said.length), said)).toBeGreaterThan(0.995);
    expect(peak(one.sound().subarray(said.length))).toBe(0);
    expect(one.ends()).toBe(1);
  });

  it('VO-05: NaN and infinities become silence and are counted, values stay in range, an offset goes', () => {
    verifies('VO-05');
    const bad = core(16_000);
    bad.begin(0);
    bad.feed(broken(tone(440, 1_000), 100));
    expect(bad.counts().nonFinite).toBe(160);
    for (const sample of bad.sound()) expect(Math.abs(sample)).toBeLessThanOrEqual(1);
    const constant = core(16_000);
    constant.begin(0);
    constant.feed(offset(tone(440, 2_000, 16_000, 0.1), 0.2));
    const late = constant.sound().subarray(8_000);
    expect(Math.abs(late.reduce((sum, x) => sum + x, 0) / late.length)).toBeLessThan(1e-3);
    expect(rms(late)).toBeCloseTo(0.1 / Math.SQRT2, 2);
    const still = core(16_000);
    still.begin(0);
    still.feed(offset(silence(1_000), 0.2));
    expect(peak(still.sound())).toBeLessThan(1e-3);
  });

  it('says of each frame whether it was clipped, and whether anything came at all', () => {
    const one = core(16_000);
    one.begin(0);
    one.feed(join(silence(320), clipped(tone(440, 320), 4), tone(440, 320, 16_000, 0.3)));
    const frames = one.frames();
    expect(frames.slice(0, 9).every(({ zero, clipped: over }) => zero && !over)).toBe(true);
    expect(frames.slice(10, 19).every(({ zero, clipped: over }) => !zero && over)).toBe(true);
    expect(frames.slice(21).every(({ zero, clipped: over }) => !zero && !over)).toBe(true);
    // The faintest sound is one: only exact zeros are none.
    const faint = core(16_000);
    faint.begin(0);
    faint.feed(noise(-120, 320));
    expect(faint.frames().some(({ zero }) => zero)).toBe(false);
  });

  it('VO-02: time that gave no sample is told, and the clock goes on', () => {
    const one = core(16_000);
    one.begin(0);
    one.feed(tone(440, 320));
    for (let i = 0; i < 125; i += 1) one.process(null, 128);
    one.feed(tone(440, 320));
    const frames = one.frames();
    expect(frames.filter(({ gap }) => gap).length).toBe(1);
    expect((frames.at(-1)?.captureMs ?? 0) - (frames[0]?.captureMs ?? 0)).toBeCloseTo((frames.length - 1) * 32 + 1_000, 3);
  });

  it('the meter shows loudness, peak and the room; zeros say nothing of the room', () => {
    const one = core(16_000);
    one.feed(join(silence(320), noise(-50, 2_000), tone(440, 960, 16_000, 0.5)));
    const levels = one.events.flatMap((event) => (event.type === 'level' ? [event.level] : []));
    expect(levels[2]).toMatchObject({ rms: 0, floor: null, zeros: true });
    const quiet = levels[60];
    expect(quiet?.floor).toBeGreaterThan(10 ** (-53 / 20));
    expect(quiet?.floor).toBeLessThan(10 ** (-49 / 20));
    const loud = levels.at(-1);
    expect(loud?.rms).toBeCloseTo(0.5 / Math.SQRT2, 2);
    expect(loud?.peak).toBeCloseTo(0.5, 1);
    // A second of speech does not become the room.
    expect(loud?.floor).toBeLessThan(10 ** (-45 / 20));
  });
});
