import type { DecodeOutcome, LlamaContext } from '../../../native/llama/modelType.ts';

/** The tokens whose keys and values a context holds, so that the next prompt reads only what is new. */
export type Sequence = {
  /** Tokens held. */
  readonly length: number;
  /**
   * Keeps the longest beginning that the prompt shares and drops the rest. At least one prompt token is left to evaluate, since its
   * output is what the first sampled token comes from.
   *
   * @returns tokens of the prompt that need no evaluation: what the memory really kept, not what it was asked to.
   */
  reuse(prompt: Int32Array): number;
  /** Evaluates tokens after those held. See `LlamaContext.decode`. */
  append(tokens: Int32Array, shouldAbort?: () => boolean): DecodeOutcome;
};

export function createSequence(context: LlamaContext): Sequence {
  const held = new Int32Array(context.size);
  return {
    get length() {
      return context.used;
    },
    reuse(prompt) {
      const most = Math.min(context.used, prompt.length - 1);
      let common = 0;
      while (common < most && held[common] === prompt[common]) common += 1;
      // A memory that cannot be cut can still be continued.
      return common === context.used ? common : context.cut(common);
    },
    append(tokens, shouldAbort) {
      const at = context.used;
      const outcome = context.decode(tokens, shouldAbort);
      if (outcome === 'ok') held.set(tokens, at);
      return outcome;
    },
  };
}
