import { AppError } from '../../shared/errors/appError.ts';

/** Bytes that can be read from anywhere: a file, or an array in tests. */
export type Source = {
  readonly size: number;
  /** Fills `into` from `at` on. @throws AppError MODEL_FILE_CORRUPT if it ends before. */
  read(into: Uint8Array, at: number): void;
};

/** From `start` to `end`, end exclusive. */
export type Range = { readonly start: number; readonly end: number };

/**
 * One field of a message. `whole` is the field with its tag, `body` what it holds: for numbers their own bytes.
 *
 * @source protobuf wire format: 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
 */
export type Field = { readonly number: number; readonly type: 0 | 1 | 2 | 5; readonly whole: Range; readonly body: Range };

/** Read ahead: fields of a graph are short, so that most of them come with the one before. */
const WINDOW = 64 * 1024;

export function notOnnx(reason: string): AppError {
  return new AppError('MODEL_FILE_CORRUPT', { reason });
}

/** Reads a protobuf message field by field without holding more of it than a window. */
export function createWireReader(source: Source) {
  const window = new Uint8Array(WINDOW);
  let from = 0;
  let held = 0;

  function byteAt(at: number, end: number): number {
    if (at >= end) throw notOnnx('a field is cut off');
    if (at < from || at >= from + held) {
      from = at;
      held = Math.min(WINDOW, source.size - at);
      source.read(window.subarray(0, held), at);
    }
    return window[at - from] ?? 0;
  }

  /** @returns the number and where it ended. Numbers over 2^53 do not occur where a length or an id is meant. */
  function varint(at: number, end: number): { value: number; next: number } {
    let value = 0;
    for (let i = 0; i < 10; i += 1) {
      const byte = byteAt(at + i, end);
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: at + i + 1 };
    }
    throw notOnnx('a number without an end');
  }

  return {
    *fields({ start, end }: Range): Generator<Field, void, void> {
      for (let at = start; at < end; ) {
        const tag = varint(at, end);
        const number = Math.floor(tag.value / 8);
        const type = tag.value % 8;
        if (number === 0 || (type !== 0 && type !== 1 && type !== 2 && type !== 5)) throw notOnnx('not an ONNX file');
        let body: Range;
        if (type === 0) body = { start: tag.next, end: varint(tag.next, end).next };
        else if (type === 2) {
          const { value, next } = varint(tag.next, end);
          body = { start: next, end: next + value };
        } else body = { start: tag.next, end: tag.next + (type === 1 ? 8 : 4) };
        if (body.end > end) throw notOnnx('a field is cut off');
        yield { number, type, whole: { start: at, end: body.end }, body };
        at = body.end;
      }
    },
    number: ({ body }: Field): number => varint(body.start, body.end).value,
    /** @param most  a longer field is refused: it is not what the caller takes it for. */
    bytes({ start, end }: Range, most: number): Uint8Array {
      if (end - start > most) throw notOnnx('a field is too long');
      const out = new Uint8Array(end - start);
      if (out.length > 0) source.read(out, start);
      return out;
    },
  };
}
export type WireReader = ReturnType<typeof createWireReader>;

/** A source over an array. */
export function sourceOf(bytes: Uint8Array): Source {
  return {
    size: bytes.length,
    read(into, at) {
      if (at + into.length > bytes.length) throw notOnnx('shorter than it should be');
      into.set(bytes.subarray(at, at + into.length));
    },
  };
}

/** The bytes of an unsigned number. */
export function varintBytes(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.from([...out, rest]);
}

/** Tag and length of a length-delimited field. */
export function fieldHead(number: number, length: number): Uint8Array {
  return joined([varintBytes(number * 8 + 2), varintBytes(length)]);
}

export function field(number: number, body: Uint8Array): Uint8Array {
  return joined([fieldHead(number, body.length), body]);
}

const encoder = new TextEncoder();

export function textField(number: number, text: string): Uint8Array {
  return field(number, encoder.encode(text));
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}
