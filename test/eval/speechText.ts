import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createSpeaker } from '../../src/runtime/voice/speaking/speaker.ts';
import { spokenForm } from '../../src/runtime/voice/spoken/spoken.ts';
import type { SoundChunk } from '../../src/shared/domain/audio.ts';
import { deferred } from '../../src/shared/util/deferred.ts';
import { type BenchRow, medianOf } from '../bench/report.ts';
import { join, resample, silence } from '../helpers/audio.ts';
import { type BareRecogniser, bareMoonshine } from '../helpers/bareSpeech.ts';
import { createFakeClock } from '../helpers/fakeClock.ts';
import { type RealSpeech, realSpeech } from '../helpers/realSpeech.ts';
import { foldedErrors, foldedWords } from '../helpers/wordErrors.ts';
import type { EvalOptions } from './report.ts';
import { chosen } from './sounds.ts';
import { interval95, shareInterval95 } from './statistics.ts';

const Answers = z.array(z.strictObject({ kind: z.string(), text: z.string() }));
const Cases = z.record(z.string(), z.array(z.tuple([z.string(), z.string()])));
const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

/** Written answers, each kind of VO-66 at least ten times. */
export const answers = (): z.infer<typeof Answers> => Answers.parse(json('./answers.json'));
/** The golden cases of the spoken form, by language. */
const golden = () => Cases.parse(json('../runtime/voice/spoken/cases.json'));

/** Signs that only markup has, and what a voice calls them. */
const marks = /[*_`#|<>~[\]\\]|\b(?:asterisks?|underscores?|backticks?|hashtags?|pipes?|brackets?)\b/gi;
export const marksOf = (text: string): number => text.match(marks)?.length ?? 0;

/** A pause as a loudspeaker would have it between two phrases. */
const BETWEEN_MS = 150;

/**
 * An answer as a person hears it: written in pieces, cut into phrases, each said by the real voice.
 *
 * @returns 16 kHz mono, and what the voice was given to say.
 */
export async function spoken(speech: RealSpeech, text: string): Promise<{ sound: Float32Array<ArrayBuffer>; said: string }> {
  const done = deferred<void>();
  const chunks: SoundChunk[] = [];
  const said: string[] = [];
  const speaker = createSpeaker({
    clock: createFakeClock(),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    textToSpeech: speech.engines.textToSpeech,
    onChunk(chunk) {
      chunks.push(chunk);
      const { phrase, range, last } = chunk;
      // Played at once: nobody waits for a loudspeaker here.
      queueMicrotask(() => speaker.played({ phrase, from: range.from, to: range.to, ms: 0 }, last));
    },
    onFinish: () => done.resolve(),
    onCaption: ({ text: phrase }) => said.push(phrase),
    onMark: () => {},
    onFailed: (error) => done.reject(error),
  });
  speaker.begin(1, { voiceId: null, language: 'en', speed: 1 });
  // As a model writes: a few letters at a time.
  for (let at = 0; at < text.length; at += 4) speaker.push(text.slice(at, at + 4));
  speaker.end();
  await done.promise;
  const parts = chunks.flatMap((chunk) => [resample(chunk.pcm, chunk.rateHz, 16_000), silence(chunk.last ? BETWEEN_MS : 0)]);
  return { sound: join(silence(BETWEEN_MS), ...parts), said: said.join(' ') };
}

export type Spoken = { readonly kind: string; readonly wordError: number; readonly marks: number; readonly heard: string };

/** An answer said and understood again, by an engine that knows nothing of it. */
export async function roundTrip(speech: RealSpeech, bare: BareRecogniser, answer: { kind: string; text: string }): Promise<Spoken> {
  const truth = spokenForm(answer.text, { language: 'en' }).spoken;
  const { sound, said } = await spoken(speech, answer.text);
  const { text: heard } = await bare.transcribe(sound);
  const { errors, words } = foldedErrors(truth, heard);
  // A word for a mark counts only where nobody had to say it.
  const asked = new Set(foldedWords(truth));
  const named = (heard.match(marks) ?? []).filter((mark) => !asked.has(mark.toLowerCase())).length;
  return { kind: answer.kind, wordError: errors / Math.max(1, words), marks: marksOf(said) + named, heard };
}

/** VO-117, after the table of the spoken form. */
export async function evaluate({ seed, count, only }: EvalOptions): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [language, cases] of Object.entries(golden())) {
    const wrong = cases.filter(([text, wanted]) => spokenForm(text, { language }).spoken !== wanted);
    for (const [text] of wrong)
      console.error(`${language}: ${JSON.stringify(text)} → ${JSON.stringify(spokenForm(text, { language }).spoken)}`);
    const { low, high } = shareInterval95(wrong.length, cases.length);
    rows.push({
      id: 'VO-68',
      what: `golden cases that are said otherwise, ${language}`,
      value: wrong.length,
      unit: 'cases',
      against: '',
      goal: '≤ 0',
      better: 'lower',
      runs: cases.length,
      min: low * cases.length,
      max: high * cases.length,
    });
  }
  const all = answers().filter(({ kind }) => only === null || kind === only);
  await using speech = realSpeech();
  const bare = await bareMoonshine();
  const found: Spoken[] = [];
  for (const answer of chosen(all, count ?? all.length, seed)) {
    const one = await roundTrip(speech, bare, answer);
    found.push(one);
    if (one.wordError > 0.35 || one.marks > 0)
      console.error(`${one.kind} ${one.wordError.toFixed(2)} ${one.marks}: ${JSON.stringify(answer.text)} → ${one.heard}`);
  }
  await bare.release();
  const row = (what: string, of: readonly Spoken[], goal: string): BenchRow => {
    const errors = of.map(({ wordError }) => wordError);
    const { low, high } = interval95(of.length, (places) => medianOf(places.map((place) => errors[place] ?? 0)), seed);
    const against = 'the same model, bare, on the whole answer';
    return {
      id: 'VO-117',
      what,
      value: medianOf(errors),
      unit: 'ratio',
      against,
      goal,
      better: 'lower',
      runs: of.length,
      min: low,
      max: high,
    };
  };
  rows.push(row('median word error of spoken answers', found, '≤ 0.35'));
  for (const kind of new Set(found.map((one) => one.kind)))
    rows.push(
      row(
        `of them: ${kind}`,
        found.filter((one) => one.kind === kind),
        '',
      ),
    );
  const spokenMarks = found.reduce((sum, one) => sum + one.marks, 0);
  rows.push({
    id: 'VO-117',
    what: 'spoken marks of Markdown',
    value: spokenMarks,
    unit: 'marks',
    against: '',
    goal: '≤ 0',
    better: 'lower',
    runs: found.length,
    min: spokenMarks,
    max: spokenMarks,
  });
  return rows;
}
