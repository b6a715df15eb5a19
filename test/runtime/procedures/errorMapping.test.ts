import { ORPCError } from '@orpc/client';
import { eventIterator, oc } from '@orpc/contract';
import { createRouterClient, implement } from '@orpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRefusals, errorMiddleware } from '../../../src/runtime/procedures/errorMapping.ts';
import { appErrors, fromOrpc } from '../../../src/shared/contract/clientErrors.ts';
import { errors } from '../../../src/shared/contract/errors.ts';
import { inputFault } from '../../../src/shared/contract/inputShape.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createTestLog, type LogLine } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';

const item = z.union([z.string().min(2), z.strictObject({ t: z.literal('q') })]);
const contract = {
  fail: oc.errors(errors('SESSION_NOT_FOUND')).input(z.strictObject({})).output(z.strictObject({})),
  lie: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(z.strictObject({ n: z.int() })),
  stream: oc.errors(errors()).input(z.strictObject({})).output(eventIterator(z.number())),
  strict: oc
    .errors(errors())
    .input(
      z.strictObject({
        n: z.int().min(0),
        kind: z.enum(['a', 'b']),
        name: z.string().regex(/^x/),
        list: z.array(item).optional(),
      }),
    )
    .output(z.strictObject({})),
};

function setUp(thrown: unknown) {
  const lines: LogLine[] = [];
  const refusals = createRefusals();
  const os = implement(contract);
  const router = implement(contract)
    .use(errorMiddleware({ log: createTestLog(lines), refusals }))
    .router({
      fail: os.fail.handler(() => {
        throw thrown;
      }),
      lie: os.lie.handler(() => ({ n: 1.5 })),
      stream: os.stream.handler(async function* () {
        yield 1;
        throw thrown;
      }),
      strict: os.strict.handler(() => ({})),
    });
  return { client: createRouterClient(router), lines, refusals };
}

describe('errorMiddleware', () => {
  it('GE-04: an AppError crosses as it is, and is a defined one when the call names it', async () => {
    verifies('GE-04');
    const { client } = setUp(new AppError('SESSION_NOT_FOUND'));
    await expect(client.fail({})).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', defined: true, status: 404 });
  });

  it('GE-04: anything else becomes INTERNAL with an incident number; its words stay in the log', async () => {
    verifies('GE-04');
    const { client, lines } = setUp(new Error('MARBLE in /home/ada'));
    const failure = await client.fail({}).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'INTERNAL', defined: true });
    expect(JSON.stringify(failure)).not.toMatch(/MARBLE|ada/);
    const { incident } = fromOrpc(failure).data;
    expect(incident).toMatch(/^[0-9A-F]{8}$/);
    expect(lines).toMatchObject([{ level: 'error', event: 'rpc.internal', fields: { procedure: 'fail', incident } }]);
  });

  it('GE-04: a failure inside a stream is translated too', async () => {
    const { client } = setUp(new Error('MARBLE'));
    const stream = await client.stream({});
    expect((await stream.next()).value).toBe(1);
    await expect(stream.next()).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('an output that breaks the contract is our fault, not that of the caller', async () => {
    const { client, lines } = setUp(null);
    await expect(client.lie({})).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(lines).toHaveLength(1);
  });

  it('an aborted call is CANCELLED', async () => {
    const { client, lines } = setUp(new DOMException('gone', 'AbortError'));
    await expect(client.fail({})).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(lines).toEqual([]);
  });

  it.each([
    [{}, 'n', 'missing'],
    [{ n: -1, kind: 'a', name: 'x' }, 'n', 'range'],
    [{ n: '1', kind: 'a', name: 'x' }, 'n', 'type'],
    [{ n: Number.POSITIVE_INFINITY, kind: 'a', name: 'x' }, 'n', 'not_finite'],
    [{ n: 1, kind: 'c', name: 'x' }, 'kind', 'range'],
    [{ n: 1, kind: 'a', name: 'y' }, 'name', 'format'],
    [{ n: 1, kind: 'a', name: 'x', more: 1 }, 'more', 'unknown'],
    [{ n: 1, kind: 'a', name: 'x', list: ['long', 'a'] }, 'list.1', 'range'],
    [{ n: 1, kind: 'a', name: 'x', list: [{ t: 'z' }] }, 'list.0.t', 'range'],
    [{ n: 1, kind: 'a', name: 'x', list: [5] }, 'list.0', 'type'],
  ])('names field and reason of %o: %s %s', async (input, field, reason) => {
    const { client, refusals } = setUp(null);
    await expect(client.strict(input as never)).rejects.toMatchObject({ code: 'INVALID_INPUT', data: { field, reason } });
    expect(refusals.snapshot()).toEqual({ INVALID_INPUT: 1 });
  });
});

describe('inputFault', () => {
  it('finds what no schema should see', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(inputFault(cycle)).toMatchObject({ reason: 'depth' });
    expect(inputFault(JSON.parse('{"a":{"__proto__":1}}'))).toEqual({ field: 'a.__proto__', reason: 'unknown' });
    expect(inputFault({ a: [Number.NaN] })).toEqual({ field: 'a.0', reason: 'not_finite' });
    expect(inputFault({ a: new Map() })).toEqual({ field: 'a', reason: 'type' });
    expect(inputFault({ a: 10n })).toEqual({ field: 'a', reason: 'type' });
    expect(inputFault({ a: 'x', b: [1, null, undefined, { c: true }], pcm: new Float32Array(4) })).toBeNull();
    expect(inputFault(undefined)).toBeNull();
    expect(inputFault(new Array(2_000_000).fill(0))).toMatchObject({ reason: 'range' });
  });
});

describe('fromOrpc', () => {
  it('gives back the code and data that were sent, and keeps link failures apart', () => {
    const sent = new ORPCError('CONTEXT_OVERFLOW', { defined: true, status: 422, data: { tokens: 5, contextSize: 4 } });
    expect(fromOrpc(sent)).toMatchObject({ code: 'CONTEXT_OVERFLOW', data: { tokens: 5 } });
    expect(fromOrpc(new ORPCError('NOT_FOUND', { status: 404 })).code).toBe('UNKNOWN_PROCEDURE');
    expect(fromOrpc(new ORPCError('NOT_FOUND', { defined: true, status: 404 })).code).toBe('NOT_FOUND');
    expect(fromOrpc(new ORPCError('BAD_REQUEST')).code).toBe('INVALID_INPUT');
    expect(fromOrpc(new DOMException('x', 'AbortError')).code).toBe('RUNTIME_UNAVAILABLE');
    expect(fromOrpc(new DOMException('x', 'AbortError'), AbortSignal.abort()).code).toBe('CANCELLED');
    expect(fromOrpc(new ORPCError('TEAPOT', { status: 418 })).code).toBe('INTERNAL');
    expect(fromOrpc(new TypeError('x')).code).toBe('INTERNAL');
  });

  it('refuses an input that cannot be sent before it is sent', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    let sent = false;
    const call = appErrors({
      input: cycle,
      next: async () => {
        sent = true;
      },
    });
    await expect(call).rejects.toMatchObject({ code: 'INVALID_INPUT', data: { reason: 'depth' } });
    expect(sent).toBe(false);
  });
});
