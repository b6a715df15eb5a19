import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { medianOf } from '../bench/report.ts';
import { type BareRecogniser, bareMoonshine } from '../helpers/bareSpeech.ts';
import { type RealSpeech, realSpeech } from '../helpers/realSpeech.ts';
import { type Recording, recordings } from '../helpers/recordings.ts';
import { verifies } from '../helpers/verifies.ts';
import { heardOf, levels, nobody, pairOf, pointsMore } from './asr.ts';
import { chosen } from './sounds.ts';
import { answers, marksOf, roundTrip } from './speechText.ts';
import { createTalker, type Talker } from './talker.ts';
import { press, presses } from './talkKey.ts';

// The share of each evaluation that `npm test` has time for. `npm run eval` measures all of it.

const seed = 20_260;
let speech: RealSpeech;
let talker: Talker;
let bare: BareRecogniser;
let clips: Recording[];
beforeAll(async () => {
  clips = recordings({ minWords: 4 });
  bare = await bareMoonshine();
  speech = realSpeech();
  talker = await createTalker(speech.engines);
}, 120_000);
afterAll(async () => {
  await talker[Symbol.asyncDispose]();
  await speech[Symbol.asyncDispose]();
  await bare.release();
});

describe('what people said', () => {
  // The bug: a pipeline that loses words between microphone and recogniser, at onsets, in pauses, or at cuts.
  it('VO-110: 60 recordings, clean and under soft noise, are understood as the bare engine understands them', {
    timeout: 480_000,
  }, async () => {
    verifies('VO-110');
    const conditions = levels(clips, seed).slice(0, 3);
    expect(conditions.map(({ name }) => name)).toEqual(['clean', 'white 20 dB', 'babble 20 dB']);
    const pairs = [];
    for (const [i, clip] of chosen(clips, 60, seed).entries()) {
      const condition = conditions[i % conditions.length];
      if (condition !== undefined) pairs.push(await pairOf(talker, bare, clip.text, condition.change(clip.sound(), i)));
    }
    expect(pairs).toHaveLength(60);
    expect(pointsMore(pairs)).toBeLessThanOrEqual(1);
  });
});

describe('where nobody speaks', () => {
  // The bug: "thank you" out of silence, and an answer to it.
  it('VO-115: a minute each of silence, noise and music has no word and begins no turn', { timeout: 240_000 }, async () => {
    verifies('VO-115');
    for (const { name, sound } of nobody(60_000, seed)) {
      expect(await heardOf(talker, sound), name).toMatchObject({ words: 0, turns: 0 });
    }
  });
});

describe('the talk key', () => {
  // The bug: "what time is it" becomes "time is it" for whoever speaks as the key goes down.
  it('VO-111: no first word is lost in 100 presses, from 300 ms before the key to 500 after it, warm and cold', {
    timeout: 240_000,
  }, () => {
    verifies('VO-111');
    const all = presses(100, seed);
    expect(all.filter(({ cold }) => cold)).toHaveLength(25);
    const lost = all.filter((one, i) => !press(one, seed + i, { mostMs: 800 }).whole);
    expect(lost.map(({ recording, lateMs, cold }) => ({ name: recording.name, lateMs, cold }))).toEqual([]);
    // Without the pre-roll it would: the check sees what is lost.
    const early = all.filter(({ cold, lateMs }) => !cold && lateMs < -200).slice(0, 5);
    expect(early.map((one) => press(one, seed, { mostMs: 800, preRollMs: 0 }).whole)).toEqual(early.map(() => false));
  });
});

describe('answers that are spoken', () => {
  it('VO-117: answers of every kind are understood again, without a mark of Markdown', { timeout: 480_000 }, async () => {
    verifies('VO-117');
    const all = answers();
    expect(all.length).toBeGreaterThanOrEqual(100);
    const kinds = new Set(all.map(({ kind }) => kind));
    expect(kinds.size).toBe(9);
    const found = [];
    for (const kind of kinds) {
      const three = chosen(
        all.filter((answer) => answer.kind === kind),
        3,
        seed,
      );
      for (const answer of three) found.push(await roundTrip(speech, bare, answer));
    }
    expect(medianOf(found.map(({ wordError }) => wordError))).toBeLessThanOrEqual(0.35);
    expect(found.filter(({ marks }) => marks > 0)).toEqual([]);
    expect(marksOf('a **bold** asterisk')).toBe(5);
  });
});
