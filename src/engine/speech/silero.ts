import { Tensor } from 'onnxruntime-node';
import { type SpeechLoadParams, speechLimits } from '../contract/speech.ts';
import { corrupt, openModel, partOf } from './onnx.ts';
import { checkFinite } from './sound.ts';

/** What one stream of sound has left in the model. */
export type ActivityState = { readonly tensors: Readonly<Record<string, Tensor>>; readonly context: Float32Array };

export type ActivityModel = {
  fresh(): ActivityState;
  /** Probability of speech in one frame of 512 samples, and the state after it. @throws AppError INVALID_AUDIO. */
  hear(frame: Float32Array, state: ActivityState): Promise<{ probability: number; state: ActivityState }>;
  dispose(): Promise<void>;
};

type Form = {
  /** Samples of the frame before that stand in front of each frame; without them v5 misses most onsets (speech facts, section 5). */
  readonly context: number;
  /** Inputs that carry the state, with their shape, and the outputs that they come back as. */
  readonly state: readonly { readonly input: string; readonly output: string; readonly dims: readonly number[] }[];
};

const forms: Readonly<Record<'silero-v4' | 'silero-v5', Form>> = {
  'silero-v4': {
    context: 0,
    state: [
      { input: 'h', output: 'hn', dims: [2, 1, 64] },
      { input: 'c', output: 'cn', dims: [2, 1, 64] },
    ],
  },
  'silero-v5': { context: 64, state: [{ input: 'state', output: 'stateN', dims: [2, 1, 128] }] },
};

/**
 * Silero's activity model, in its older and its newer form.
 *
 * @param params  part `model`.
 * @throws AppError MODEL_FILE_CORRUPT.
 */
export async function createSilero(params: SpeechLoadParams): Promise<ActivityModel> {
  const form = params.runtimeClass === 'silero-v4' || params.runtimeClass === 'silero-v5' ? forms[params.runtimeClass] : null;
  if (form === null) throw corrupt('another kind of model');
  const session = await openModel(partOf(params, 'model'), ['input', 'sr', ...form.state.map(({ input }) => input)]);
  const rate = new Tensor('int64', BigInt64Array.of(BigInt(speechLimits.sampleRate)), []);
  return {
    fresh: () => ({
      tensors: Object.fromEntries(
        form.state.map(({ input, dims }) => [input, new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)), [...dims])]),
      ),
      context: new Float32Array(form.context),
    }),
    async hear(frame, state) {
      checkFinite(frame);
      const input = new Float32Array(form.context + frame.length);
      input.set(state.context);
      input.set(frame, form.context);
      const out = await session.run({ input: new Tensor('float32', input, [1, input.length]), sr: rate, ...state.tensors });
      const probability = out['output']?.data[0];
      if (typeof probability !== 'number') throw corrupt('another kind of model');
      const tensors: Record<string, Tensor> = {};
      for (const { input: name, output } of form.state) {
        const tensor = out[output];
        if (tensor !== undefined) tensors[name] = tensor;
      }
      return { probability, state: { tensors, context: frame.slice(frame.length - form.context) } };
    },
    dispose: () => session.release(),
  };
}
