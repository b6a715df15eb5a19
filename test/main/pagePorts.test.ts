import { beforeEach, describe, expect, it } from 'vitest';
import { createPagePorts, type Page } from '../../src/main/processes/pagePorts.ts';
import type { RuntimeProcess } from '../../src/main/processes/runtime.ts';
import { maxLineText } from '../../src/shared/contract/voiceLine.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import type { Session } from '../../src/shared/supervision/supervisor.ts';
import { frameBytes } from '../../src/shared/util/audioWire.ts';
import { createFakeClock } from '../helpers/fakeClock.ts';
import { type FakePort, fakeChannel, silentLog } from './fakes.ts';

/** A runtime whose sessions the test ends and speaks for. */
function fakeRuntime(relay: boolean) {
  let generation = 0;
  const state = {
    failure: null as AppError | null,
    forgiven: 0,
    posted: [] as { body: unknown; transfer: readonly unknown[] }[],
    say: (_body: unknown): void => {},
    end: (_error: AppError): void => {},
  };
  let current: Session | null = null;
  const open = (): Session => {
    generation += 1;
    const bodies: ((body: unknown) => void)[] = [];
    const ends: ((error: AppError) => void)[] = [];
    let ended: AppError | null = null;
    state.say = (body) => {
      for (const listener of bodies) listener(body);
    };
    state.end = (error) => {
      ended = error;
      current = null;
      for (const listener of ends) listener(error);
    };
    return {
      generation,
      pid: 1,
      post: (body, transfer = []) => void state.posted.push({ body, transfer }),
      onBody: (listener) => void bodies.push(listener),
      onEnd: (listener) => (ended === null ? void ends.push(listener) : listener(ended)),
      end: () => {},
      succeeded: () => {},
    };
  };
  const runtime: RuntimeProcess = {
    relay,
    async session() {
      if (state.failure !== null) throw state.failure;
      current ??= open();
      return current;
    },
    forgive: () => {
      state.forgiven += 1;
    },
    dispose: async () => {},
  };
  return { runtime, state };
}

function fakePage(key = '1') {
  const given: { number: string; port: FakePort }[] = [];
  const closed: string[] = [];
  const page: Page = {
    key,
    givePort: (number, port) => void given.push({ number, port: port as FakePort }),
    tellClosed: (number) => void closed.push(number),
  };
  return { page, given, closed };
}

const number = (n: number) => `number-0123456789-${n}`;

describe('page ports', () => {
  let clock = createFakeClock();
  beforeEach(() => {
    clock = createFakeClock();
  });
  const setUp = (relay = true) => {
    const { runtime, state } = fakeRuntime(relay);
    return { state, ports: createPagePorts({ runtime, channel: fakeChannel, clock, log: silentLog }) };
  };

  it('relays both ways, each port by its own number', async () => {
    const { ports, state } = setUp();
    const [a, b] = [fakePage('a'), fakePage('b')];
    await ports.connect(a.page, number(1));
    await ports.connect(b.page, number(2));
    a.given[0]?.port.postMessage('from a');
    b.given[0]?.port.postMessage('from b');
    expect(state.posted.map(({ body }) => body)).toEqual([
      { k: 'port', id: 1, purpose: 'calls' },
      { k: 'port', id: 2, purpose: 'calls' },
      { k: 'port.data', id: 1, data: 'from a' },
      { k: 'port.data', id: 2, data: 'from b' },
    ]);
    state.say({ k: 'port.data', id: 2, data: 'for b' });
    expect([a.given[0]?.port.got, b.given[0]?.port.got]).toEqual([[], ['for b']]);
  });

  it('hands the port itself to a runtime that can take one', async () => {
    const { ports, state } = setUp(false);
    const { page, given } = fakePage();
    await ports.connect(page, number(1));
    expect(state.posted).toHaveLength(1);
    expect(state.posted[0]?.body).toEqual({ k: 'port', id: 1, purpose: 'calls' });
    expect(state.posted[0]?.transfer).toEqual([given[0]?.port.other]);
  });

  it('tells each page once when the runtime is gone, and gives a new port of the next runtime', async () => {
    const { ports, state } = setUp();
    const { page, given, closed } = fakePage();
    await ports.connect(page, number(1));
    state.end(new AppError('RUNTIME_UNAVAILABLE'));
    expect(closed).toEqual([number(1)]);
    await ports.connect(page, number(2));
    // What the dead one's page still sends reaches no other runtime.
    const posted = state.posted.length;
    given[0]?.port.postMessage('late');
    expect(state.posted).toHaveLength(posted);
    given[1]?.port.postMessage('new');
    expect(state.posted.at(-1)?.body).toEqual({ k: 'port.data', id: 2, data: 'new' });
    expect(closed).toEqual([number(1)]);
  });

  it('tells the runtime when a page is gone, and not the page', async () => {
    const { ports, state } = setUp();
    const { page, given, closed } = fakePage();
    await ports.connect(page, number(1));
    given[0]?.port.close();
    expect(state.posted.at(-1)?.body).toEqual({ k: 'port.close', id: 1 });
    expect(closed).toEqual([]);
  });

  it('ends a port whose messages are not text', async () => {
    const { ports, state } = setUp();
    const { page, given, closed } = fakePage();
    await ports.connect(page, number(1));
    given[0]?.port.postMessage({ i: '1' });
    expect(state.posted.at(-1)?.body).toEqual({ k: 'port.close', id: 1 });
    expect(closed).toEqual([number(1)]);
  });

  describe('of a voice line', () => {
    it('relays texts and sound both ways, and of what a channel read only what is its own', async () => {
      const { ports, state } = setUp();
      const { page, given } = fakePage();
      await ports.connect(page, number(1), { purpose: 'voice' });
      expect(state.posted[0]?.body).toEqual({ k: 'port', id: 1, purpose: 'voice' });
      const port = given[0]?.port;
      port?.postMessage('{"t":"ended"}');
      port?.postMessage(Uint8Array.of(1, 2, 3));
      expect(state.posted.slice(1).map(({ body }) => body)).toEqual([
        { k: 'port.data', id: 1, data: '{"t":"ended"}' },
        { k: 'port.data', id: 1, data: Uint8Array.of(1, 2, 3) },
      ]);
      // As a child's channel delivers it: a view of a buffer with the words of other pages in it.
      const read = new TextEncoder().encode('secret of another page');
      state.say({ k: 'port.data', id: 1, data: read.subarray(0, 6) });
      state.say({ k: 'port.data', id: 1, data: 'text' });
      expect(port?.got).toEqual([new TextEncoder().encode('secret'), 'text']);
      expect((port?.got[0] as Uint8Array).buffer.byteLength).toBe(6);
    });

    it('ends at what is no message of one, and a port of calls ends at bytes', async () => {
      for (const [purpose, bad] of [
        ['voice', { t: 'ended' }],
        ['voice', new Float32Array(4)],
        ['voice', new ArrayBuffer(4)],
        ['voice', 'x'.repeat(maxLineText + 1)],
        ['voice', new Uint8Array(frameBytes + 1)],
        ['calls', new Uint8Array(4)],
      ] as const) {
        const { ports, state } = setUp();
        const { page, given, closed } = fakePage();
        await ports.connect(page, number(1), { purpose });
        given[0]?.port.postMessage(bad);
        expect([bad, state.posted.at(-1)?.body]).toEqual([bad, { k: 'port.close', id: 1 }]);
        expect(closed).toEqual([number(1)]);
      }
    });

    it('drops what the runtime may not send, and closes when the runtime closes it', async () => {
      const { ports, state } = setUp();
      const [calls, voice] = [fakePage('calls'), fakePage('voice')];
      await ports.connect(calls.page, number(1));
      await ports.connect(voice.page, number(2), { purpose: 'voice' });
      state.say({ k: 'port.data', id: 1, data: Uint8Array.of(1) });
      state.say({ k: 'port.data', id: 2, data: 'x'.repeat(maxLineText + 1) });
      state.say({ k: 'port.data', id: 2, data: [1, 2] });
      expect([calls.given[0]?.port.got, voice.given[0]?.port.got]).toEqual([[], []]);
      state.say({ k: 'port.close', id: 2 });
      expect([calls.closed, voice.closed]).toEqual([[], [number(2)]]);
    });

    it('asks for itself, so it never counts as a person who tries again', async () => {
      const { ports, state } = setUp();
      const { page } = fakePage();
      state.failure = new AppError('RUNTIME_UNAVAILABLE');
      await ports.connect(page, number(1), { purpose: 'voice' });
      await ports.connect(page, number(2));
      await ports.connect(page, number(3), { purpose: 'voice' });
      expect(state.forgiven).toBe(0);
      await ports.connect(page, number(4));
      expect(state.forgiven).toBe(1);
    });
  });

  it('answers a failure as it is, and forgives when the same page asks again', async () => {
    const { ports, state } = setUp();
    const { page } = fakePage();
    state.failure = new AppError('DB_FROM_FUTURE', { found: 9, known: 3 });
    expect(await ports.connect(page, number(1))).toEqual({
      status: 'failed',
      error: { code: 'DB_FROM_FUTURE', message: 'DB_FROM_FUTURE', data: { found: 9, known: 3 } },
    });
    expect(state.forgiven).toBe(0);
    state.failure = null;
    expect(await ports.connect(page, number(2))).toEqual({ status: 'connected' });
    expect(state.forgiven).toBe(1);
    // A page that was served does not shut the breaker by asking.
    await ports.connect(page, number(3));
    expect(state.forgiven).toBe(1);
  });

  it('gives at most sixteen ports', async () => {
    const { ports } = setUp();
    for (let n = 1; n <= 16; n++) expect(await ports.connect(fakePage(String(n)).page, number(n))).toEqual({ status: 'connected' });
    expect(await ports.connect(fakePage('17').page, number(17))).toMatchObject({
      status: 'failed',
      error: { code: 'RUNTIME_UNAVAILABLE' },
    });
  });

  it('settles when the last page is gone, or when one hangs', async () => {
    const { ports } = setUp();
    await ports.settled();
    const [a, b] = [fakePage('a'), fakePage('b')];
    await ports.connect(a.page, number(1));
    await ports.connect(b.page, number(2));
    let settled = false;
    const waiting = ports.settled().then(() => {
      settled = true;
    });
    a.given[0]?.port.close();
    await Promise.resolve();
    expect(settled).toBe(false);
    b.given[0]?.port.close();
    await waiting;
    await ports.connect(fakePage('c').page, number(3));
    const hanging = ports.settled();
    clock.advance(500);
    await hanging;
    expect(settled).toBe(true);
  });
});
