import { mapEventIterator, ORPCError } from '@orpc/client';
import { ValidationError } from '@orpc/contract';
import { type InputFault, type InputReason, inputFault, join } from '../../shared/contract/inputShape.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import { codes } from '../../shared/errors/codes.ts';
import type { Logger } from '../platform/ports.ts';

/** Counts of calls that were refused before any handler ran, by reason; part of health. */
export type Refusals = { count(reason: string): void; snapshot(): Record<string, number>; onChange(listener: () => void): void };

export function createRefusals(): Refusals {
  const counts = new Map<string, number>();
  const listeners = new Set<() => void>();
  return {
    count(reason) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      for (const listener of listeners) listener();
    },
    snapshot: () => Object.fromEntries(counts),
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

/**
 * The outermost middleware of the router: refuses inputs that no schema should see, and turns every failure, also one inside a stream,
 * into the wire form of an AppError (GE-04). What is not an AppError becomes INTERNAL; its cause goes to the local log only.
 */
export function errorMiddleware(deps: { log: Logger; refusals: Refusals }) {
  return async (options: { path: readonly string[]; next(): Passed | PromiseLike<Passed> }, input: unknown): Promise<Passed> => {
    const procedure = options.path.join('.');
    const refuse = (fault: InputFault) => {
      deps.refusals.count('INVALID_INPUT');
      return wire(new AppError('INVALID_INPUT', { field: fault.field, reason: fault.reason }));
    };
    const fault = inputFault(input);
    if (fault !== null) throw refuse(fault);
    const translate = (error: unknown) => {
      const invalid = validationFault(error, input);
      return invalid === null ? wire(known(error, procedure, deps.log)) : refuse(invalid);
    };
    try {
      const result = await options.next();
      if (!isIterator(result.output)) return result;
      return {
        ...result,
        output: mapEventIterator(result.output, { value: async (item: unknown) => item, error: async (error) => translate(error) }),
      };
    } catch (error) {
      throw translate(error);
    }
  };
}

/** What a middleware hands on: the output and what it adds to the context. */
type Passed = { output: unknown; context: Record<never, never> };

function isIterator(output: unknown): output is AsyncIterator<unknown> {
  return typeof output === 'object' && output !== null && Symbol.asyncIterator in output && 'next' in output;
}

/** An AppError as oRPC carries it; whether the call declares the code is oRPC's to check. */
export function wire(error: AppError): ORPCError<string, unknown> {
  return new ORPCError(error.code, {
    defined: true,
    status: codes[error.code].status,
    message: error.message,
    data: error.data,
    cause: error,
  });
}

function known(error: unknown, procedure: string, log: Logger): AppError {
  const app = isOrpcError(error) && Object.hasOwn(codes, error.code) && error.cause instanceof AppError ? error.cause : toAppError(error);
  if (app.code === 'INTERNAL') log.error('rpc.internal', { procedure, incident: String(app.data.incident) }, app.cause ?? app);
  return app;
}

/** The class is generic over `any`. */
function isOrpcError(error: unknown): error is ORPCError<string, unknown> {
  return error instanceof ORPCError;
}

/** The first issue of a failed input schema as field and reason (SV-17); `null` for any other error. */
export function validationFault(error: unknown, input: unknown): InputFault | null {
  if (!isOrpcError(error) || error.code !== 'BAD_REQUEST' || !(error.cause instanceof ValidationError)) return null;
  const issue: unknown = error.cause.issues[0];
  return isIssue(issue) ? faultOf(issue, input, '') : { field: '', reason: 'type' };
}

/** The part of a zod 4 issue that matters here. */
type Issue = {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
};

function isIssue(value: unknown): value is Issue {
  return typeof value === 'object' && value !== null && 'path' in value && Array.isArray(value.path);
}

function faultOf(issue: Issue, input: unknown, base: string): InputFault {
  let field = base;
  let value = input;
  for (const key of issue.path) {
    field = join(field, String(key));
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  if (issue.code === 'unrecognized_keys') return { field: join(field, issue.keys?.[0] ?? ''), reason: 'unknown' };
  if (value === undefined) return { field, reason: 'missing' };
  if (issue.code === 'invalid_union') {
    // The branch that came furthest says most: any reason but `type` means that the kind of value was right.
    const branches = (issue.errors ?? []).flatMap((branch) => branch.slice(0, 1).map((one) => faultOf(one, value, field)));
    return branches.find((fault) => fault.reason !== 'type' && fault.reason !== 'missing') ?? { field, reason: 'type' };
  }
  return { field, reason: reasons[issue.code ?? ''] ?? 'type' };
}

const reasons: Readonly<Record<string, InputReason>> = {
  invalid_type: 'type',
  too_big: 'range',
  too_small: 'range',
  not_multiple_of: 'range',
  invalid_value: 'range',
  invalid_format: 'format',
};
