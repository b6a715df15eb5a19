import { codes, type ErrorCode } from './codes.ts';

/** What a failure looks like when it crosses a process or a socket. `data` fits the schema of its code. */
export type WireError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * The one error class of the product. `message` is English for developers and logs and never holds user text, a prompt or a
 * path of the user; what a person reads comes from the text key of the code.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  /**
   * @param code  a code of `codes.ts`.
   * @param data  fields that the code's schema names; more are kept, fewer are a bug that the contract tests find.
   */
  constructor(code: ErrorCode, data: Readonly<Record<string, unknown>> = {}, options: { message?: string; cause?: unknown } = {}) {
    super(options.message ?? code, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = data;
  }

  get retryable(): boolean {
    return codes[this.code].retryable;
  }

  toWire(): WireError {
    return { code: this.code, message: this.message, data: this.data };
  }
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}

/** Reads back what `toWire` wrote; a code that this build does not know becomes INTERNAL, so that no failure is lost. */
export function fromWire(wire: { code: string; message: string; data?: Readonly<Record<string, unknown>> }): AppError {
  if (Object.hasOwn(codes, wire.code)) return new AppError(wire.code as ErrorCode, wire.data ?? {}, { message: wire.message });
  return new AppError('INTERNAL', { incident: incidentId() }, { message: `unknown code ${wire.code.slice(0, 64)}` });
}

/**
 * Any thrown value as an AppError. Foreign errors become INTERNAL with a fresh incident number; the original stays in `cause`
 * for the local log and never crosses a boundary.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Error && error.name === 'AbortError') return new AppError('CANCELLED', {}, { cause: error });
  return new AppError('INTERNAL', { incident: incidentId() }, { cause: error });
}

/** Four bytes as hex: short enough to read out, rare enough to find one line in a log. */
export function incidentId(): string {
  return [...crypto.getRandomValues(new Uint8Array(4))]
    .map((b) => b.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
