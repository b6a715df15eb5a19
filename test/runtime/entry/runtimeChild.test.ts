import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Runtime } from '../../../src/runtime/compose/createRuntime.ts';
import type { ParentLink } from '../../../src/runtime/entry/parentLink.ts';
import { type Host, runRuntimeChild } from '../../../src/runtime/entry/runtimeChild.ts';
import type { PortLike } from '../../../src/runtime/platform/electronStarter.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createTestLog, createTestRuntime } from '../../helpers/testRuntime.ts';
import { FakePort, fakeChannel } from '../../main/fakes.ts';

type Frame = { k: string; generation: number; body?: { k: string; id: number; data?: string } };

/** The child with a link that the test holds the other end of. */
function setUp(compose: (host: Host) => Promise<Runtime>) {
  const sent: Frame[] = [];
  const ends: string[] = [];
  let listener: (message: unknown, port: PortLike | null) => void = () => {};
  let gone = () => {};
  const link: ParentLink = {
    post(message, done) {
      sent.push(structuredClone(message) as Frame);
      done?.();
    },
    onMessage(one) {
      listener = one;
    },
    onGone(one) {
      gone = one;
    },
  };
  runRuntimeChild({ link, compose, log: createTestLog(), leave: () => ends.push('leave'), die: () => ends.push('die') });
  return {
    sent,
    ends,
    say: (message: unknown, port: PortLike | null = null) => listener(message, port),
    app: (body: unknown, port: PortLike | null = null) => listener({ k: 'app', generation: 1, body }, port),
    disconnect: () => gone(),
    kinds: () => sent.map(({ k }) => k),
    until: (kind: string) => vi.waitFor(() => expect(sent.map(({ k }) => k)).toContain(kind)),
  };
}

const request = (path: string, input: unknown, id = '1') => JSON.stringify({ i: id, p: { u: `/${path}`, b: { json: input } } });

describe('the runtime as a child', () => {
  const opened: { [Symbol.asyncDispose](): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
  });
  const real = async () => {
    const rt = await createTestRuntime();
    opened.push(rt);
    return rt.runtime;
  };

  it('what the composition says to main comes after ready, in order: before it main takes it for a fault', async () => {
    const child = setUp((host) => {
      host.post({ k: 'mic.mute', muted: true });
      host.post({ k: 'mic.release' });
      return real();
    });
    child.say({ k: 'hello', generation: 1 });
    await child.until('ready');
    expect(child.sent.map(({ k, body }) => body?.k ?? k)).toEqual(['ready', 'mic.mute', 'mic.release']);
  });

  it('says hello, answers a relayed page, pings and stops with a goodbye', async () => {
    const child = setUp(real);
    child.say({ k: 'hello', generation: 1 });
    await child.until('ready');
    child.say({ k: 'ping', generation: 1, n: 7 });
    expect(child.sent.at(-1)).toEqual({ k: 'pong', generation: 1, n: 7 });

    child.app({ k: 'port', id: 5, purpose: 'calls' });
    child.app({ k: 'port.data', id: 5, data: request('sessions/start', {}) });
    await vi.waitFor(() => expect(child.sent.at(-1)?.body).toMatchObject({ k: 'port.data', id: 5 }));
    expect(JSON.parse(child.sent.at(-1)?.body?.data ?? '')).toMatchObject({ i: '1', p: { b: { json: { existing: false } } } });

    child.say({ k: 'stop', generation: 1 });
    await child.until('goodbye');
    expect(child.ends).toEqual(['leave']);
  });

  it('serves a port that it was handed, and says when its page is gone', async () => {
    const child = setUp(real);
    child.say({ k: 'hello', generation: 1 });
    await child.until('ready');
    const { port1, port2 } = fakeChannel();
    child.app({ k: 'port', id: 9, purpose: 'calls' }, port1);
    port2.postMessage(request('sessions/start', {}));
    await vi.waitFor(() => expect(port2.got).toHaveLength(1));
    expect(child.kinds()).not.toContain('app');
    port2.close();
    expect(child.sent.at(-1)?.body).toEqual({ k: 'port.close', id: 9 });
  });

  it('a message that is no call costs neither the process nor the other pages', async () => {
    const child = setUp(real);
    child.say({ k: 'hello', generation: 1 });
    await child.until('ready');
    child.app({ k: 'port', id: 1, purpose: 'calls' });
    child.app({ k: 'port', id: 2, purpose: 'calls' });
    for (const data of ['', '{', '[]', 'null', '{"i":1}', '{"i":"x","p":{"u":"http://evil/"}}', '{"i":"y","t":9}'])
      child.app({ k: 'port.data', id: 1, data });
    for (const body of [
      null,
      'x',
      { k: 'port.data', id: 1, data: 7 },
      { k: 'port', id: 0, purpose: 'calls' },
      { k: 'port.data', id: 99, data: 'x' },
    ])
      child.app(body);
    child.app({ k: 'port.data', id: 2, data: request('sessions/start', {}, '2') });
    await vi.waitFor(() => expect(child.sent.some(({ body }) => body?.id === 2)).toBe(true));
    expect(child.ends).toEqual([]);
  });

  it('refuses a port number twice, and more ports than it serves', async () => {
    const child = setUp(real);
    child.say({ k: 'hello', generation: 1 });
    await child.until('ready');
    for (let id = 1; id <= 16; id++) child.app({ k: 'port', id, purpose: 'calls' });
    const before = child.sent.length;
    child.app({ k: 'port', id: 3, purpose: 'calls' });
    child.app({ k: 'port', id: 17, purpose: 'calls' }, new FakePort());
    expect(child.sent.slice(before).map(({ body }) => body)).toEqual([
      { k: 'port.close', id: 3 },
      { k: 'port.close', id: 17 },
    ]);
  });

  it('a start that fails is told with its code, and a foreign error without its words', async () => {
    const typed = setUp(() => Promise.reject(new AppError('DATA_DIR_IN_USE')));
    typed.say({ k: 'hello', generation: 3 });
    await typed.until('failed');
    expect(typed.sent.at(-1)).toMatchObject({ k: 'failed', generation: 3, error: { code: 'DATA_DIR_IN_USE' } });
    expect(typed.ends).toEqual(['leave']);

    const foreign = setUp(() => Promise.reject(new Error('cannot open /home/me/secret')));
    foreign.say({ k: 'hello', generation: 1 });
    await foreign.until('failed');
    expect(foreign.sent.at(-1)).toMatchObject({ error: { code: 'INTERNAL' } });
    expect(JSON.stringify(foreign.sent)).not.toContain('secret');
  });

  it('drops frames of another generation and a second hello', async () => {
    let composed = 0;
    const child = setUp(() => {
      composed += 1;
      return real();
    });
    child.say({ k: 'stop', generation: 1 });
    child.say({ k: 'hello', generation: 2 });
    child.say({ k: 'hello', generation: 3 });
    await child.until('ready');
    child.say({ k: 'stop', generation: 1 });
    child.say({ k: 'ping', generation: 1, n: 1 });
    child.say('not a frame');
    expect(composed).toBe(1);
    expect(child.sent).toEqual([{ k: 'ready', generation: 2 }]);
  });

  it('a stop while it still starts ends in order, once', async () => {
    let finish: (runtime: Runtime) => void = () => {};
    const child = setUp(() => new Promise((resolve) => void (finish = resolve)));
    child.say({ k: 'hello', generation: 1 });
    child.say({ k: 'stop', generation: 1 });
    child.say({ k: 'stop', generation: 1 });
    finish(await real());
    await child.until('goodbye');
    expect(child.kinds().filter((kind) => kind === 'goodbye')).toHaveLength(1);
    expect(child.ends).toEqual(['leave']);
  });

  it('dies at once when main is gone', () => {
    const child = setUp(() => new Promise(() => {}));
    child.say({ k: 'hello', generation: 1 });
    child.disconnect();
    expect(child.ends).toEqual(['die']);
  });
});
