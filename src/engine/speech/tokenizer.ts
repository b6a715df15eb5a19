import { z } from 'zod';
import { corrupt } from './onnx.ts';

export type Tokenizer = {
  /** Text of a list of tokens; those that are no text (markers, unknown ids) are left out. */
  decode(tokens: readonly number[]): string;
  readonly size: number;
};

/** What we read of a Hugging Face tokenizer file. */
const TokenizerFile = z.object({ model: z.object({ vocab: z.record(z.string(), z.int().min(0).max(1_000_000)) }) });

/** Ids below are markers: unknown, start, end. */
const FIRST_TEXT = 3;

/**
 * The decoding half of a SentencePiece tokenizer with byte fallback: piece, `▁` as a space, `<0xNN>` as a byte.
 *
 * @param json  content of `tokenizer.json`. Added tokens are markers and stay out.
 * @throws AppError MODEL_FILE_CORRUPT.
 */
export function createTokenizer(json: string): Tokenizer {
  const pieces: Buffer[] = [];
  for (const [piece, id] of Object.entries(readFile(json).model.vocab)) {
    const byte = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1];
    pieces[id] = byte === undefined ? Buffer.from(piece.replaceAll('▁', ' '), 'utf8') : Buffer.from([Number.parseInt(byte, 16)]);
  }
  return {
    size: pieces.length,
    decode(tokens) {
      const bytes = tokens.flatMap((id) => (id < FIRST_TEXT ? [] : [pieces[id] ?? Buffer.alloc(0)]));
      return Buffer.concat(bytes).toString('utf8').trim();
    },
  };
}

function readFile(json: string): z.infer<typeof TokenizerFile> {
  try {
    return TokenizerFile.parse(JSON.parse(json));
  } catch (error) {
    throw corrupt('not a tokenizer file', error);
  }
}
