import { ORPCError } from '@orpc/contract';
import { AppError, toAppError } from '../errors/appError.ts';
import { codes, type ErrorCode } from '../errors/codes.ts';
import { inputFault } from './inputShape.ts';

/**
 * What a caller of the contract sees of a failure: an AppError with the code of the tables, for page, command line and tests. A link
 * that is gone is RUNTIME_UNAVAILABLE, an abort of the caller's own is CANCELLED.
 *
 * @param signal  the caller's own signal, if the call had one.
 */
export function fromOrpc(error: unknown, signal?: Pick<AbortSignal, 'aborted'>): AppError {
  if (error instanceof AppError) return error;
  if (signal?.aborted) return new AppError('CANCELLED', {}, { cause: error });
  if (isAnswer(error)) return fromAnswer(error.code, error);
  if (isClosedLink(error)) return new AppError('RUNTIME_UNAVAILABLE', {}, { cause: error });
  return toAppError(error);
}

/** The class is generic over `any`; an answer's data is unknown until it was looked at. */
function isAnswer(error: unknown): error is ORPCError<string, unknown> {
  return error instanceof ORPCError;
}

/** The peer ends waiting calls with an AbortError when its port or socket closes, and later ones with a plain Error of its queue. */
function isClosedLink(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.message.startsWith('[AsyncIdQueue]'));
}

function fromAnswer(code: string, error: ORPCError<string, unknown>): AppError {
  const options = { message: error.message, cause: error };
  // oRPC's own answer when no procedure matched; our NOT_FOUND is always a defined one.
  if (code === 'NOT_FOUND' && !error.defined) return new AppError('UNKNOWN_PROCEDURE', {}, options);
  if (Object.hasOwn(codes, code)) return new AppError(code as ErrorCode, record(error.data), options);
  if (code === 'BAD_REQUEST') return new AppError('INVALID_INPUT', { field: '', reason: 'not_json' }, options);
  if (code === 'SERVICE_UNAVAILABLE' || code === 'BAD_GATEWAY') return new AppError('RUNTIME_UNAVAILABLE', {}, options);
  return toAppError(error);
}

function record(data: unknown): Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : {};
}

/**
 * An interceptor for an oRPC link (`interceptors: [appErrors]`): every failure of a call, and of a stream that it returned, is an
 * AppError. An input that could not even be sent (a cycle) is refused here.
 */
export async function appErrors<T>(call: { input: unknown; signal?: AbortSignal | undefined; next(): Promise<T> }): Promise<T> {
  const fault = inputFault(call.input);
  if (fault !== null) throw new AppError('INVALID_INPUT', { field: fault.field, reason: fault.reason });
  try {
    const output = await call.next();
    return isAsyncIterator(output) ? withAppErrors(output, call.signal) : output;
  } catch (error) {
    throw fromOrpc(error, call.signal);
  }
}

type Iterator = AsyncIterator<unknown> & AsyncIterable<unknown>;

function isAsyncIterator(value: unknown): value is Iterator {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;
}

/** The same iterator with translated failures: a proxy, so that its disposal and extra methods stay. */
function withAppErrors<T extends Iterator>(iterator: T, signal: AbortSignal | undefined): T {
  const guarded = async (step: () => PromiseLike<unknown>) => {
    try {
      return await step();
    } catch (error) {
      throw fromOrpc(error, signal);
    }
  };
  return new Proxy(iterator, {
    get(target, key) {
      if (key === Symbol.asyncIterator) return () => withAppErrors(target, signal);
      if (key === 'next') return () => guarded(() => target.next());
      if (key === 'return') return (value?: unknown) => guarded(() => target.return?.(value) ?? Promise.resolve({ done: true, value }));
      const member: unknown = Reflect.get(target, key);
      return isMethod(member) ? (...args: unknown[]) => Reflect.apply(member, target, args) : member;
    },
  });
}

function isMethod(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === 'function';
}
