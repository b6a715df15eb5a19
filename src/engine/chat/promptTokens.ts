import type { LlamaModel } from '../../../native/llama/modelType.ts';
import type { PromptPiece } from './render.ts';

/**
 * Tokens of a rendered prompt. Control tokens are read in template text only. `bos` is put in front where the model wants one and the
 * template did not print it.
 */
export function promptTokens(model: Pick<LlamaModel, 'tokenize' | 'addsBos' | 'bos'>, pieces: readonly PromptPiece[]): Int32Array {
  const parts = pieces.map((piece) => model.tokenize(piece.text, piece.from === 'template'));
  const first = parts.find((part) => part.length > 0)?.[0];
  if (model.addsBos && model.bos >= 0 && first !== model.bos) parts.unshift(Int32Array.of(model.bos));
  const tokens = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    tokens.set(part, at);
    at += part.length;
  }
  return tokens;
}
