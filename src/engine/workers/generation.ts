import type { LlamaContext, LlamaModel, LlamaSampler } from '../../../native/llama/modelType.ts';
import { createStopMatcher } from '../text/stopMatcher.ts';
import { createUtf8Joiner } from '../text/utf8.ts';
import type { JobControl } from './prefill.ts';
import type { Sequence } from './sequence.ts';

export type StopReason = 'end' | 'stop' | 'length' | 'context' | 'cancelled';

/** ABI-05. `drafted` and `accepted` count speculated tokens: none without a drafter. */
export type GenerationStep = {
  readonly tokens: number;
  readonly text: string;
  readonly done: boolean;
  readonly stopReason?: StopReason;
  readonly drafted: number;
  readonly accepted: number;
};

export type StepLimits = { readonly maxTokens: number; readonly maxBytes: number; readonly maxMs: number };

/** A reply that is pulled step by step; between pulls nothing runs. */
export type Generation = {
  readonly outputTokens: number;
  /**
   * The first step is one token, so that nobody waits for the start; later ones take more, up to the limits. Ends on a whole character.
   *
   * @throws AppError what `decode` and `sample` throw. After `done` it gives empty steps.
   */
  next(limits: StepLimits): GenerationStep;
};

/**
 * Continues a sequence whose last output is ready. Only a token that the vocabulary calls an end of generation ends a reply by itself.
 *
 * @param maxTokens  ≥ 1.
 */
export function createGeneration(deps: {
  model: Pick<LlamaModel, 'isEnd' | 'tokenBytes'>;
  context: Pick<LlamaContext, 'sample'>;
  sequence: Sequence;
  sampler: LlamaSampler;
  stops: readonly string[];
  maxTokens: number;
  control: JobControl;
}): Generation {
  const { model, context, sequence, sampler, control } = deps;
  const utf8 = createUtf8Joiner();
  const stops = createStopMatcher(deps.stops);
  const one = new Int32Array(1);
  let outputTokens = 0;
  let reason: StopReason | undefined;
  // Sampled and said, not yet evaluated: a reply that ends here saves that evaluation.
  let waiting: number | null = null;
  // A token's text that did not fit into the step before.
  let carried: string | null = null;
  let firstStep = true;

  function finish(why: StopReason): string {
    reason = why;
    if (why === 'stop') return '';
    const last = stops.push(utf8.end());
    if (last.stopped) reason = 'stop';
    return last.text + (last.stopped ? '' : stops.end());
  }

  /** One token further: its text, which may be '' while a character or a stop is open. */
  function advance(): { readonly token: boolean; readonly text: string } {
    if (control.isCancelled()) return { token: false, text: finish('cancelled') };
    if (waiting !== null) {
      one[0] = waiting;
      if (sequence.append(one) === 'full') return { token: false, text: finish('context') };
      waiting = null;
    }
    const token = context.sample(sampler);
    if (model.isEnd(token)) return { token: false, text: finish('end') };
    outputTokens += 1;
    waiting = token;
    const { text, stopped } = stops.push(utf8.push(model.tokenBytes(token)));
    if (stopped) finish('stop');
    else if (outputTokens >= deps.maxTokens) return { token: true, text: text + finish('length') };
    return { token: true, text };
  }

  return {
    get outputTokens() {
      return outputTokens;
    },
    next(limits) {
      const startMs = control.nowMs();
      let text = carried ?? '';
      let tokens = carried === null ? 0 : 1;
      let bytes = Buffer.byteLength(text);
      carried = null;
      const maxTokens = firstStep ? 1 : limits.maxTokens;
      while (reason === undefined && tokens < maxTokens && bytes < limits.maxBytes) {
        const piece = advance();
        const size = Buffer.byteLength(piece.text);
        if (tokens > 0 && bytes + size > limits.maxBytes) {
          carried = piece.text;
          break;
        }
        if (piece.token) tokens += 1;
        text += piece.text;
        bytes += size;
        if (control.nowMs() - startMs >= limits.maxMs) break;
      }
      firstStep = false;
      const done = reason !== undefined && carried === null;
      return { tokens, text, done, ...(done && reason !== undefined ? { stopReason: reason } : {}), drafted: 0, accepted: 0 };
    },
  };
}
