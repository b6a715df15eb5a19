import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dbfs,
  followSignal,
  initialSignal,
  levelWord,
  measureFrame,
  noiseFloor,
  passesGate,
  type SignalState,
  signalLimits,
  whySilent,
} from '../../../src/shared/domain/voiceSignal.ts';

const frameMs = 32;
const frame = (sample: (index: number) => number) => Float32Array.from({ length: 512 }, (_, index) => sample(index));
const sine = (amplitude: number) => frame((index) => amplitude * Math.sin((2 * Math.PI * index) / 32));
const zeros = frame(() => 0);
const follow = (frames: readonly Float32Array[], from: SignalState = initialSignal) =>
  frames.reduce((state, each) => followSignal(state, measureFrame(each), frameMs), from);
const times = (count: number, each: Float32Array) => Array.from({ length: count }, () => each);

describe('one frame', () => {
  it('is measured in dBFS: a full sine −3, a tenth of it −23, zeros nothing', () => {
    expect(dbfs(measureFrame(sine(1)).rms)).toBeCloseTo(-3.01, 1);
    expect(dbfs(measureFrame(sine(0.1)).rms)).toBeCloseTo(-23.01, 1);
    expect(dbfs(measureFrame(zeros).rms)).toBeNull();
  });

  it('tells a dead device from a quiet room', () => {
    expect(measureFrame(zeros).zeros).toBe(true);
    expect(measureFrame(frame((index) => (index === 300 ? 1e-7 : 0))).zeros).toBe(false);
  });

  it('has no level from a constant offset alone', () => {
    const offset = measureFrame(frame(() => 0.2));
    expect(offset.rms).toBeCloseTo(0, 6);
    expect(offset.zeros).toBe(false);
  });

  it('is clipped by tops that are cut off, not by one click', () => {
    expect(measureFrame(frame((index) => Math.max(-1, Math.min(1, 2 * Math.sin(index / 8))))).clipped).toBe(true);
    expect(measureFrame(frame((index) => (index === 9 ? 1 : 0.1))).clipped).toBe(false);
  });

  it('never throws nor gives a level outside 0…1, whatever the samples are', () => {
    fc.assert(
      fc.property(fc.float32Array({ maxLength: 64 }), (samples) => {
        const signal = measureFrame(samples);
        expect(signal.rms).toBeGreaterThanOrEqual(0);
        expect(signal.rms).toBeLessThanOrEqual(1);
        expect(signal.peak).toBeLessThanOrEqual(1);
        expect(signal.notFinite).toBe(samples.filter((sample) => !Number.isFinite(sample)).length);
      }),
    );
  });

  it('has one word for the meter', () => {
    const word = (samples: Float32Array) => levelWord(measureFrame(samples));
    expect(word(zeros)).toBe('none');
    expect(word(sine(0.0005))).toBe('silent');
    expect(word(sine(0.005))).toBe('low');
    expect(word(sine(0.15))).toBe('good');
    expect(word(sine(0.9))).toBe('loud');
    expect(word(frame((index) => (index % 20 < 10 ? 1 : -1)))).toBe('clipped');
  });
});

describe('the signal over time', () => {
  it('says zeros after 1.5 s of exact zeros, no-frames after 3 s, and nothing once sound came', () => {
    const enough = Math.ceil(signalLimits.zerosMs / frameMs);
    expect(whySilent(follow(times(enough - 1, zeros)), 0)).toBeNull();
    const dead = follow(times(enough, zeros));
    expect(whySilent(dead, 0)).toBe('zeros');
    expect(dead.soundArrived).toBe(false);
    const alive = follow([sine(0.001)], dead);
    expect(whySilent(alive, 0)).toBeNull();
    expect(alive.soundArrived).toBe(true);
    expect(whySilent(initialSignal, signalLimits.noFramesMs)).toBe('no-frames');
  });

  it('finds the floor under speech, keeps it for 3 s, and then follows a louder room', () => {
    expect(noiseFloor(initialSignal)).toBeNull();
    const quiet = follow(times(30, sine(0.002)));
    const floor = noiseFloor(quiet) ?? 0;
    expect(floor).toBeCloseTo(0.002 / Math.SQRT2, 5);
    const talking = follow(times(60, sine(0.3)), quiet);
    expect(noiseFloor(talking)).toBeCloseTo(floor, 6);
    const louder = follow(times(130, sine(0.02)), talking);
    expect(noiseFloor(louder)).toBeCloseTo(0.02 / Math.SQRT2, 5);
    // A driver's zeros say nothing about the room.
    expect(noiseFloor(follow(times(200, zeros), quiet))).toBeCloseTo(floor, 6);
  });

  it('keeps a bounded memory', () => {
    expect(follow(times(5_000, sine(0.01))).blocks.length).toBeLessThanOrEqual(10);
  });

  it('opens the gate above 0.003 and above three times the floor', () => {
    expect(passesGate(0.003, null)).toBe(false);
    expect(passesGate(0.0031, null)).toBe(true);
    expect(passesGate(0.0031, 0.002)).toBe(false);
    expect(passesGate(0.0061, 0.002)).toBe(true);
  });
});
