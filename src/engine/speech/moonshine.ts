import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { AppError } from '../../shared/errors/appError.ts';
import type { SpeechLoadParams, TranscribeParams, TranscribeResult } from '../contract/speech.ts';
import { loopStart, tokenCap, verdictOf } from './guards.ts';
import { corrupt, openModel, partOf, readSlice } from './onnx.ts';
import { prepareSound } from './sound.ts';
import { createTokenizer } from './tokenizer.ts';

export type Recogniser = {
  /** @throws AppError INVALID_AUDIO, CANCELLED. */
  transcribe(params: TranscribeParams, isCancelled: () => boolean): Promise<Omit<TranscribeResult, 'ms'>>;
  dispose(): Promise<void>;
};

const START = 1;
const END = 2;
/** Of the tiny model: attention heads and the width of each. */
const HEADS = 8;
const WIDTH = 36;

type Past = Record<string, Tensor>;
/** What the decoder says after its last token, and what it needs to go on. */
type Step = { readonly choices: readonly Choice[]; readonly past: Past };
type Choice = {
  readonly token: number;
  readonly logProb: number;
  readonly endProb: number;
  readonly withoutEnd: Pick<Choice, 'token' | 'logProb'>;
};

/**
 * Moonshine: an encoder over the raw waveform and a decoder with a key-value cache, both int8.
 *
 * @param params  parts `encoder`, `decoder`, `tokenizer`.
 * @throws AppError MODEL_FILE_CORRUPT.
 * @source speech facts, section 1
 */
export async function createMoonshine(params: SpeechLoadParams): Promise<Recogniser> {
  const tokenizer = createTokenizer((await readSlice(partOf(params, 'tokenizer'))).toString('utf8'));
  const encoder = await openModel(partOf(params, 'encoder'), ['input_values']);
  let decoder: InferenceSession;
  try {
    decoder = await openModel(partOf(params, 'decoder'), ['input_ids', 'encoder_hidden_states', 'use_cache_branch']);
  } catch (error) {
    await encoder.release();
    throw error;
  }
  const pastNames = decoder.inputNames.filter((name) => name.startsWith('past_key_values.'));

  async function encode(samples: Float32Array): Promise<Tensor> {
    const { last_hidden_state: hidden } = await encoder.run({ input_values: new Tensor('float32', samples, [1, samples.length]) });
    if (hidden === undefined) throw corrupt('another kind of model');
    return hidden;
  }

  /** @param past  `null` = the first step, from the whole list of ids. */
  async function step(hidden: Tensor, ids: readonly number[], past: Past | null): Promise<Step> {
    const pasts =
      past ?? Object.fromEntries(pastNames.map((name) => [name, new Tensor('float32', new Float32Array(0), [0, HEADS, 1, WIDTH])]));
    const out = await decoder.run({
      input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
      encoder_hidden_states: hidden,
      use_cache_branch: new Tensor('bool', Uint8Array.of(past === null ? 0 : 1), [1]),
      ...pasts,
    });
    const logits = out['logits'];
    if (logits === undefined || !(logits.data instanceof Float32Array)) throw corrupt('another kind of model');
    const vocabulary = logits.dims[2] ?? 0;
    const { data } = logits;
    const choices = ids.map((_, i) => choose(data.subarray(i * vocabulary, (i + 1) * vocabulary)));
    const kept: Past = {};
    for (const name of pastNames) {
      // The encoder's half stays as the first step computed it: a later step returns it empty.
      const present = past !== null && name.includes('.encoder.') ? past[name] : out[name.replace('past_key_values', 'present')];
      if (present !== undefined) kept[name] = present;
    }
    return { choices, past: kept };
  }

  async function answer(hidden: Tensor, cap: number, { speech, draft }: TranscribeParams, isCancelled: () => boolean) {
    const tokens: number[] = [];
    let logProbs = 0;
    const stopIf = () => {
      if (isCancelled()) throw new AppError('CANCELLED');
    };
    stopIf();
    const first = await step(hidden, [START, ...draft], null);
    const noSpeechProb = first.choices[0]?.endProb ?? 0;
    const at = (now: Step, i: number) => {
      const choice = now.choices[i];
      if (choice === undefined) throw corrupt('another kind of model');
      return speech && tokens.length === 0 ? choice.withoutEnd : choice;
    };
    let accepted = 0;
    let next = at(first, 0);
    while (accepted < draft.length && accepted < cap && next.token === draft[accepted]) {
      tokens.push(next.token);
      logProbs += next.logProb;
      accepted += 1;
      next = at(first, accepted);
    }
    let { past } = accepted < draft.length ? { past: cutPast(first.past, accepted + 1) } : first;
    let end: TranscribeResult['end'] = 'end';
    for (;;) {
      if (next.token === END) {
        logProbs += next.logProb;
        break;
      }
      if (tokens.length + 1 >= cap) {
        end = 'cap';
        break;
      }
      tokens.push(next.token);
      logProbs += next.logProb;
      const keep = loopStart(tokens);
      if (keep !== null) {
        tokens.length = keep;
        end = 'loop';
        break;
      }
      stopIf();
      const now = await step(hidden, [next.token], past);
      past = now.past;
      next = at(now, 0);
    }
    return { tokens, noSpeechProb, averageLogProb: tokens.length === 0 ? 0 : logProbs / (tokens.length + 1), end, acceptedDraft: accepted };
  }

  return {
    async transcribe(params, isCancelled) {
      const { samples, seconds, silent } = prepareSound(params.samples);
      if (silent) return { ...nothing, tokens: [] };
      const hidden = await encode(samples);
      const found = await answer(hidden, tokenCap(seconds), params, isCancelled);
      const verdict = verdictOf({ ...found, tokens: found.tokens.length });
      const isShown = verdict === 'ok' || verdict === 'unsure';
      return { ...found, verdict, text: isShown ? tokenizer.decode(found.tokens) : '' };
    },
    async dispose() {
      await encoder.release();
      await decoder.release();
    },
  };
}

const nothing = { text: '', verdict: 'no-speech', averageLogProb: 0, noSpeechProb: 1, end: 'silence', acceptedDraft: 0 } as const;

/** The likeliest token of one row of logits, and the likeliest that is not the end. */
function choose(row: Float32Array): Choice {
  let best = 0;
  for (let i = 0; i < row.length; i += 1) if (i !== END && (row[i] ?? 0) > (row[best] ?? 0)) best = i;
  const end = row[END] ?? Number.NEGATIVE_INFINITY;
  const other = row[best] ?? 0;
  const top = Math.max(end, other);
  let sum = 0;
  for (const value of row) sum += Math.exp(value - top);
  const logOf = (value: number) => value - top - Math.log(sum);
  const withoutEnd = { token: best, logProb: logOf(other) };
  const likeliest = end > other ? { token: END, logProb: logOf(end) } : withoutEnd;
  return { ...likeliest, endProb: Math.exp(logOf(end)), withoutEnd };
}

/** The decoder's half of a cache, cut to its first tokens. */
function cutPast(past: Past, length: number): Past {
  const cut: Past = {};
  for (const [name, tensor] of Object.entries(past)) {
    const [, heads = 0, full = 0, width = 0] = tensor.dims;
    if (!name.includes('.decoder.') || full <= length || !(tensor.data instanceof Float32Array)) {
      cut[name] = tensor;
      continue;
    }
    const data = new Float32Array(heads * length * width);
    for (let head = 0; head < heads; head += 1) {
      data.set(tensor.data.subarray(head * full * width, (head * full + length) * width), head * length * width);
    }
    cut[name] = new Tensor('float32', data, [1, heads, length, width]);
  }
  return cut;
}
