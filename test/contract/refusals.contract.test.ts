import { os } from '@orpc/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRefusals } from '../../src/runtime/procedures/errorMapping.ts';
import { createConnections } from '../../src/runtime/procedures/serveConnection.ts';
import { fromOrpc } from '../../src/shared/contract/clientErrors.ts';
import { createMemoryPorts, createTestClient, createTestLog, createTestRuntime } from '../helpers/testRuntime.ts';
import { verifies } from '../helpers/verifies.ts';
import { allProcedures, callByPath, samples, type Trial, wrongInputs } from './hostile.ts';
import { type OpenOptions, type Reach, transports } from './transports.ts';

const procedures = allProcedures();

const uncaught: unknown[] = [];
const note = (error: unknown) => void uncaught.push(error);
beforeAll(() => {
  process.on('unhandledRejection', note);
});
afterAll(() => {
  process.off('unhandledRejection', note);
  expect(uncaught).toEqual([]);
});

/** Fields without which an input is refused. */
function requiredFields(path: string): string[] {
  const procedure = procedures.find((one) => one.path === path);
  const sample = samples[path] ?? {};
  const required: string[] = [];
  for (const field of Object.keys(sample)) {
    const { [field]: _, ...rest } = sample;
    if (procedure !== undefined && !procedure.accepts(rest)) required.push(field);
  }
  return required;
}

/** What went wrong when this wrong input was sent; `null` when it was refused as it must be. */
async function complaint(client: Reach['client'], path: string, trial: Trial): Promise<string | null> {
  try {
    const output = await callByPath(client, path, trial.input);
    // A stream that was opened in spite of it must not stay open.
    if (isIterator(output)) await output.return?.();
    return `${path}, ${trial.what}: was let in`;
  } catch (cause) {
    const error = fromOrpc(cause);
    if (error.code !== 'INVALID_INPUT') return `${path}, ${trial.what}: ${error.code}`;
    if (!trial.reasons.includes(String(error.data.reason))) return `${path}, ${trial.what}: reason ${String(error.data.reason)}`;
    if (trial.field !== undefined && error.data.field !== trial.field) return `${path}, ${trial.what}: field ${String(error.data.field)}`;
    return null;
  }
}

function isIterator(output: unknown): output is AsyncIterator<unknown> {
  return typeof output === 'object' && output !== null && 'next' in output;
}

async function complaints(client: Reach['client'], hugeCharacters: number): Promise<{ found: string[]; tried: number }> {
  const found: string[] = [];
  let tried = 0;
  for (const { path } of procedures) {
    for (const trial of wrongInputs(samples[path] ?? {}, requiredFields(path), { hugeCharacters })) {
      tried += 1;
      const wrong = await complaint(client, path, trial);
      if (wrong !== null) found.push(wrong);
    }
  }
  return { found, tried };
}

const unknownNames = [
  'nope',
  '__proto__',
  'constructor',
  'toString',
  'sessions/__proto__',
  'sessions/start/x',
  'sessions',
  '%',
  'a'.repeat(1024 * 1024),
];

type Answer = { readonly code?: string; readonly data?: { readonly field?: string; readonly reason?: string } };

let asks = 0;

/** Sends requests as raw frames, for what no client would write; gives back what was answered to each. */
async function askRaw(
  reach: Pick<Reach, 'raw' | 'onText'>,
  requests: readonly { path: string; json: string }[],
): Promise<(Answer | undefined)[]> {
  asks += 1;
  const mine = `x${asks}-`;
  const answers: (Answer | undefined)[] = [];
  const all = Promise.withResolvers<void>();
  let open = requests.length;
  reach.onText((text) => {
    const answer = JSON.parse(text) as { i: string; p?: { b?: { json?: Answer } } };
    if (!answer.i.startsWith(mine)) return;
    answers[Number(answer.i.slice(mine.length))] = answer.p?.b?.json;
    open -= 1;
    if (open === 0) all.resolve();
  });
  for (const [i, { path, json }] of requests.entries())
    reach.raw(`{"i":"${mine}${i}","p":{"u":"/${path}","b":{"json":${json},"meta":[]}}}`);
  await all.promise;
  return answers;
}

const codesOf = (answers: readonly (Answer | undefined)[]) => answers.map((answer) => answer?.code);
const unknownRequests = (names: readonly string[]) => names.map((path) => ({ path, json: '{}' }));

describe('the list of samples', () => {
  it('has a valid input for every procedure of the contract and for nothing else', async () => {
    expect(Object.keys(samples).sort()).toEqual(procedures.map((one) => one.path).sort());
    for (const procedure of procedures)
      expect([procedure.path, procedure.accepts(samples[procedure.path])]).toEqual([procedure.path, true]);
  });
});

describe.each(transports)('refusals $name', (transport) => {
  const open = (options?: OpenOptions) => transport.open(options);

  it('RB-01: a procedure that the contract lacks runs nothing, is counted, and everyone goes on', async () => {
    verifies('RB-01');
    await using reach = await open();
    expect(codesOf(await askRaw(reach, unknownRequests(unknownNames)))).toEqual(unknownNames.map(() => 'UNKNOWN_PROCEDURE'));
    await expect(callByPath(reach.client, 'nope.never', {})).rejects.toMatchObject({ name: 'AppError', code: 'UNKNOWN_PROCEDURE' });
    const health = await (await reach.another()).runtime.health({});
    for await (const { value } of health) {
      if ((value.refusals.UNKNOWN_PROCEDURE ?? 0) === unknownNames.length + 1) break;
    }
    expect((await reach.client.sessions.list({})).sessions).toEqual([]);
  });

  it('RB-03: every procedure refuses every wrong input once, by name, and nothing is written', { timeout: 120_000 }, async () => {
    verifies('RB-03', 'GE-06');
    await using reach = await open({ bare: true });
    const { found, tried } = await complaints(reach.client, 64 * 1024);
    expect(found).toEqual([]);
    const other = await reach.another();
    const health = await other.runtime.health({});
    // One refusal for each try, no more and no less.
    for await (const { value } of health) {
      if ((value.refusals.INVALID_INPUT ?? 0) >= tried) {
        expect(value.refusals.INVALID_INPUT).toBe(tried);
        break;
      }
    }
    expect((await other.sessions.list({})).sessions).toEqual([]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('RB-03: keys that reach for a prototype are refused by name in every procedure', async () => {
    verifies('RB-03');
    await using reach = await open();
    for (const { path } of procedures) {
      const [answer] = await askRaw(reach, [{ path: path.replace('.', '/'), json: '{"__proto__":{"polluted":true}}' }]);
      expect([path, answer]).toMatchObject([path, { code: 'INVALID_INPUT', data: { field: '__proto__', reason: 'unknown' } }]);
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect((await reach.client.sessions.list({})).sessions).toEqual([]);
  });

  it('RB-03: frames that are no frames cost one answer at most, and the next connection works', async () => {
    await using reach = await open();
    const garbage = [
      '',
      '{',
      '[]',
      'null',
      '{"i":"z1"}',
      '{"i":"z2","p":{"u":"no slash"}}',
      '{"i":"z3","t":7,"p":{}}',
      '{"i":9,"p":{"u":"/sessions/list"}}',
      `{"i":"z4","p":{"u":"/sessions/list","h":{"content-type":"text/event-stream"}}}`,
    ];
    for (const text of garbage) reach.raw(text);
    const other = await reach.another();
    expect((await other.sessions.list({})).sessions).toEqual([]);
  });
});

describe('in process', () => {
  it('RB-03: 50 MB of text and a cycle are refused at the door', { timeout: 60_000 }, async () => {
    await using rt = await createTestRuntime();
    const text = 'x'.repeat(50 * 1024 * 1024);
    for (const path of ['turns.send', 'sessions.setDraft', 'sessions.setTitle', 'settings.set', 'models.startDownload']) {
      const sample = samples[path] ?? {};
      const field =
        {
          'turns.send': 'content',
          'sessions.setDraft': 'text',
          'sessions.setTitle': 'title',
          'settings.set': 'theme',
          'models.startDownload': 'modelId',
        }[path] ?? '';
      const trial: Trial = { what: '50 MB', input: { ...sample, [field]: text }, reasons: ['range', 'format'] };
      if (path === 'turns.send') await expect(callByPath(rt.client, path, trial.input)).rejects.toMatchObject({ code: 'EVENT_TOO_LARGE' });
      else expect(await complaint(rt.client, path, trial)).toBeNull();
    }
    const cycle: Record<string, unknown> = { ...samples['sessions.start'] };
    cycle.metadata = { self: cycle };
    await expect(callByPath(rt.client, 'sessions.start', cycle)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'depth' },
    });
    expect((await rt.client.sessions.list({})).sessions).toEqual([]);
  });
});

describe('negative control', () => {
  /** The same connections over a router that lets everything through. */
  function openDoor() {
    const ran: string[] = [];
    const open = (path: string) => os.handler(() => void ran.push(path));
    const router: Record<string, unknown> = { nope: open('nope') };
    for (const { path } of procedures) {
      const [domain = '', call = ''] = path.split('.');
      router[domain] = { ...(router[domain] as object | undefined), [call]: open(path) };
    }
    const serve = createConnections({
      router: router as Parameters<typeof createConnections>[0]['router'],
      refusals: createRefusals(),
      log: createTestLog(),
    });
    const [near, far] = createMemoryPorts();
    serve({
      send: (text) => far.postMessage(text),
      onMessage: (listener) => far.listen(listener),
      onClose: (listener) => far.onClose(listener),
    });
    return {
      ran,
      client: createTestClient(near),
      raw: (text: string) => near.postMessage(text),
      onText: (listener: (text: string) => void) => near.listen((data) => listener(String(data))),
    };
  }

  it('RB-03: the check complains about a router that takes everything', async () => {
    const door = openDoor();
    const { found } = await complaints(door.client, 1024);
    expect(found.length).toBeGreaterThan(procedures.length);
    expect(door.ran.length).toBeGreaterThan(0);
  });

  it('RB-01: the check sees a handler that runs', async () => {
    const door = openDoor();
    expect(codesOf(await askRaw(door, unknownRequests(['nope'])))).toEqual([undefined]);
    expect(door.ran).toEqual(['nope']);
  });
});
