import { createIntake } from '../../src/runtime/speech/intake.ts';
import { PCM, toPcm16 } from '../../src/runtime/speech/pcm.ts';
import type { BenchRow } from '../bench/report.ts';
import { clipped, join, noise, offset, resample, silence } from '../helpers/audio.ts';
import { type BareRecogniser, bareMoonshine } from '../helpers/bareSpeech.ts';
import { realSpeech } from '../helpers/realSpeech.ts';
import { music, type Recording, recordings } from '../helpers/recordings.ts';
import { foldedErrors, wordsOf } from '../helpers/wordErrors.ts';
import type { EvalOptions } from './report.ts';
import { babble, chosen, under, whiteNoise } from './sounds.ts';
import { type Errors, interval95, percentOf, shareInterval95 } from './statistics.ts';
import { createTalker, type Talker } from './talker.ts';

type Sound = Float32Array<ArrayBuffer>;

/** How a clip reaches us. `apart`: whoever has the same clip under another number gets other noise. */
export type Condition = { readonly name: string; change(clip: Sound, apart: number): Sound };

const seconds = (clip: Sound) => (clip.length / 16_000) * 1_000;

/** Sound that came as 16-bit samples of another rate, in pieces that fit nothing. */
function carried(clip: Sound, rateHz: number, channels: number): Sound {
  const mono = resample(clip, 16_000, rateHz);
  const bytes = toPcm16(Float32Array.from({ length: mono.length * channels }, (_, i) => mono[Math.floor(i / channels)] ?? 0));
  const intake = createIntake({ code: PCM, channels, sampleRate: rateHz, bits: 16 });
  const frames: Float32Array[] = [];
  for (let at = 0; at < bytes.length; at += 1_025) frames.push(...intake.push(bytes.subarray(at, at + 1_025)));
  return join(...frames, ...intake.end());
}

export const levels = (voices: readonly Recording[], seed: number): Condition[] => [
  { name: 'clean', change: (clip) => clip },
  ...[20, 10, 5].flatMap((snr): Condition[] => [
    { name: `white ${snr} dB`, change: (clip, apart) => under(clip, whiteNoise(seconds(clip), seed + apart), snr) },
    { name: `babble ${snr} dB`, change: (clip, apart) => under(clip, babble(seconds(clip), voices, seed + apart), snr) },
  ]),
];

const forms: readonly Condition[] = [
  { name: '8 kHz', change: (clip) => carried(clip, 8_000, 1) },
  { name: '44.1 kHz', change: (clip) => carried(clip, 44_100, 1) },
  { name: '48 kHz stereo', change: (clip) => carried(clip, 48_000, 2) },
  { name: '−40 dB', change: (clip) => clip.map((x) => x * 0.01) },
  { name: 'clipped +12 dB', change: (clip) => clipped(clip, 4) },
  { name: 'offset 0.2', change: (clip) => offset(clip, 0.2) },
];

export type Pair = { readonly ours: Errors; readonly bare: Errors };

/** The same clip through our pipeline, and whole into the bare engine. */
export async function pairOf(talker: Talker, bare: BareRecogniser, text: string, clip: Sound): Promise<Pair> {
  const ours = (await talker.press(clip)) ?? '';
  return { ours: foldedErrors(text, ours), bare: foldedErrors(text, (await bare.transcribe(clip)).text) };
}

/** Points of word error that ours has more than the bare engine. */
export const pointsMore = (pairs: readonly Pair[]): number =>
  percentOf(pairs.map(({ ours }) => ours)) - percentOf(pairs.map(({ bare }) => bare));

/**
 * Sound in which nobody talks.
 *
 * @param ms  of each.
 */
export const nobody = (ms: number, seed: number): { name: string; sound: Sound }[] => [
  { name: 'silence: zeros', sound: silence(ms / 3) },
  { name: 'silence: −60 dBFS', sound: noise(-60, ms / 3, 16_000, seed) },
  { name: 'silence: offset', sound: offset(silence(ms / 3), 0.2) },
  { name: 'noise', sound: join(...[-50, -40, -30, -20].map((dbfs, i) => noise(dbfs, ms / 4, 16_000, seed + i))) },
  { name: 'music', sound: music(ms) },
];

/** How often the key is held in `nobody`: an utterance is at most 120 s, and few people hold a key longer than this. */
const HELD = 30 * 16_000;

/** Words that were heard where nobody talked, and presses that would have begun a turn. */
export async function heardOf(talker: Talker, sound: Sound): Promise<{ words: number; turns: number; presses: number }> {
  let [words, turns, presses] = [0, 0, 0];
  for (let at = 0; at < sound.length; at += HELD) {
    const said = await talker.press(sound.slice(at, at + HELD));
    presses += 1;
    words += wordsOf(said ?? '').length;
    if (said !== null) turns += 1;
  }
  return { words, turns, presses };
}

/** VO-110 and VO-115, over all recordings of four words and more; the six forms on a third of them. */
export async function evaluate({ seed, count, only }: EvalOptions): Promise<BenchRow[]> {
  const all = recordings({ minWords: 4 });
  const clips = chosen(all, count ?? all.length, seed);
  const bare = await bareMoonshine();
  await using speech = realSpeech();
  await using talker = await createTalker(speech.engines);
  const rows: BenchRow[] = [];
  const isWanted = ({ name }: { name: string }) => only === null || name.includes(only);
  const measure = async (condition: Condition, of: readonly Recording[]) => {
    const pairs: Pair[] = [];
    for (const [apart, clip] of of.entries()) pairs.push(await pairOf(talker, bare, clip.text, condition.change(clip.sound(), apart)));
    const { low, high } = interval95(pairs.length, (places) => pointsMore(places.flatMap((place) => pairs[place] ?? [])), seed);
    const [ours, theirs] = [percentOf(pairs.map((pair) => pair.ours)), percentOf(pairs.map((pair) => pair.bare))];
    const words = pairs.reduce((sum, pair) => sum + pair.bare.words, 0);
    console.error(`${condition.name.padEnd(16)} ours ${ours.toFixed(1)} %, bare ${theirs.toFixed(1)} %, ${words} words`);
    rows.push({
      id: 'VO-110',
      what: `${condition.name}: word error ${ours.toFixed(1)} %, above the bare engine's by`,
      value: ours - theirs,
      unit: 'points',
      against: `bare engine, whole clip: ${theirs.toFixed(1)} % of ${words} words`,
      goal: '≤ 1',
      better: 'lower',
      runs: pairs.length,
      min: low,
      max: high,
    });
  };
  for (const level of levels(all, seed).filter(isWanted)) await measure(level, clips);
  for (const form of forms.filter(isWanted)) await measure(form, clips.slice(0, Math.max(1, Math.round(clips.length / 3))));
  // Ten minutes of each kind, or their share of a smaller run.
  const ms = (count === null ? 600 : Math.min(600, count * 4)) * 1_000;
  for (const { name, sound } of nobody(ms, seed).filter(isWanted)) {
    const { words, turns, presses } = await heardOf(talker, sound);
    const share = shareInterval95(turns, presses);
    const minutes = (sound.length / 16_000 / 60).toFixed(1);
    rows.push(
      {
        id: 'VO-115',
        what: `${name}, ${minutes} min: words`,
        value: words,
        unit: 'words',
        against: '',
        goal: '≤ 0',
        better: 'lower',
        runs: presses,
        min: words,
        max: words,
      },
      {
        id: 'VO-115',
        what: `${name}: presses that begin a turn`,
        value: turns,
        unit: 'turns',
        against: '',
        goal: '≤ 0',
        better: 'lower',
        runs: presses,
        min: share.low * presses,
        max: share.high * presses,
      },
    );
  }
  await bare.release();
  return rows;
}
