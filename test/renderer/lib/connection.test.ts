import { describe, expect, it } from 'vitest';
import { createAppTransport } from '../../../src/renderer/lib/appTransport.ts';
import { createConnection } from '../../../src/renderer/lib/connection.ts';
import { createLive } from '../../../src/renderer/lib/live.ts';
import { socketAddress } from '../../../src/renderer/lib/webTransport.ts';
import type { ConnectReply, PageBridge } from '../../../src/shared/contract/pageLink.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime } from '../fakeRuntime.ts';

function connected(kind: 'app' | 'web' = 'web') {
  const runtime = createFakeRuntime();
  const clock = createFakeClock();
  const connection = createConnection({ transport: { ...runtime.transport, kind }, clock });
  return { runtime, clock, connection, state: () => connection.state.getState() };
}

describe('the connection', () => {
  it('calls made before it is open wait for it', async () => {
    verifies('UX-01');
    const { connection } = connected();
    expect((await connection.api.sessions.list({})).sessions).toEqual([]);
  });

  it('tries again with growing pauses, never more than four seconds, and asks nobody', async () => {
    verifies('UX-01');
    const { runtime, clock, connection, state } = connected();
    await clock.advanceAsync(0);
    expect(state().kind).toBe('open');
    runtime.refuseLinks(new AppError('RUNTIME_UNAVAILABLE'));
    runtime.cut();
    await clock.advanceAsync(0);
    expect(state().kind).toBe('lost');
    const before = runtime.opens;
    await clock.advanceAsync(60_000);
    expect(runtime.opens - before).toBeGreaterThan(10);
    expect(runtime.opens - before).toBeLessThan(30);
    runtime.refuseLinks(null);
    await clock.advanceAsync(4000);
    expect(state().kind).toBe('open');
    connection.close();
    await clock.advanceAsync(0);
    expect(state().kind).toBe('closed');
  });

  it('a call while it is lost fails at once and is not repeated by itself', async () => {
    verifies('UX-01', 'UX-02');
    const { runtime, clock, connection } = connected();
    await clock.advanceAsync(0);
    runtime.refuseLinks(new AppError('RUNTIME_UNAVAILABLE'));
    runtime.cut();
    await clock.advanceAsync(0);
    await expect(connection.api.sessions.list({})).rejects.toMatchObject({ code: 'RUNTIME_UNAVAILABLE' });
    runtime.refuseLinks(null);
    await clock.advanceAsync(5000);
    expect(runtime.callsOf('sessions.list')).toHaveLength(0);
  });

  it('a call whose link dies ends, with the one code that says "not answered"', async () => {
    verifies('UX-02');
    const { runtime, clock, connection } = connected();
    await clock.advanceAsync(0);
    const release = runtime.hold('sessions.list');
    const call = connection.api.sessions.list({});
    const outcome = expect(call).rejects.toMatchObject({ code: 'RUNTIME_UNAVAILABLE' });
    runtime.cut();
    await outcome;
    release();
  });

  it('a start that only a person can cure stops trying until that person says so', async () => {
    verifies('UX-01');
    const { runtime, clock, connection, state } = connected('app');
    runtime.refuseLinks(new AppError('DATA_DIR_IN_USE'));
    await clock.advanceAsync(0);
    runtime.cut();
    await clock.advanceAsync(0);
    await clock.advanceAsync(0);
    expect(state()).toMatchObject({ kind: 'failed', error: { code: 'DATA_DIR_IN_USE' } });
    const tries = runtime.opens;
    await clock.advanceAsync(60_000);
    expect(runtime.opens).toBe(tries);
    runtime.refuseLinks(null);
    connection.retry();
    await clock.advanceAsync(0);
    expect(state().kind).toBe('open');
  });

  it('a page whose sign-in ended says so and does not knock on', async () => {
    verifies('UX-01', 'UX-283');
    const { runtime, clock, state } = connected();
    await clock.advanceAsync(0);
    runtime.cut({ signedOut: true });
    await clock.advanceAsync(0);
    expect(state().kind).toBe('signedOut');
    const tries = runtime.opens;
    await clock.advanceAsync(60_000);
    expect(runtime.opens).toBe(tries);
  });
});

describe('a live value', () => {
  it('is marked as old while the link is lost, and subscribed again after it', async () => {
    verifies('UX-01');
    const { runtime, clock, connection } = connected();
    const live = createLive({ connection, clock, signal: new AbortController().signal }, (api, options) =>
      api.models.language({}, options),
    );
    await clock.advanceAsync(0);
    expect(live.getState()).toMatchObject({ fresh: true, value: { state: 'ready' } });
    runtime.cut();
    await clock.advanceAsync(0);
    expect(live.getState()).toMatchObject({ fresh: false, value: { state: 'ready' }, error: null });
    runtime.language.set({ ...runtime.language.get(), state: 'idle' });
    await clock.advanceAsync(2000);
    expect(live.getState()).toMatchObject({ fresh: true, value: { state: 'idle' } });
  });
});

describe("the app's way", () => {
  /** What preload and main do, by hand: a port is posted with the number, marked. */
  function bridge(reply: ConnectReply) {
    const numbers: string[] = [];
    const options: unknown[] = [];
    const it: PageBridge = {
      connect: async (number, asked) => {
        numbers.push(number);
        options.push(asked);
        return reply;
      },
    };
    const post = (data: unknown, ports: MessagePort[] = [], origin = location.origin) =>
      window.dispatchEvent(new MessageEvent('message', { data, origin, source: window, ports }));
    return { it, numbers, options, post };
  }

  it('takes only the port that carries its own number from its own window', async () => {
    const { it: side, numbers, post } = bridge({ status: 'connected' });
    const open = createAppTransport(side).open(new AbortController().signal);
    await Promise.resolve();
    const [wrong, right] = [new MessageChannel(), new MessageChannel()];
    post({ sotto: 'port', number: 'x'.repeat(20) }, [wrong.port1]);
    post({ sotto: 'port', number: numbers[0] }, [wrong.port1], 'https://evil.example');
    post({ sotto: 'port', number: numbers[0] }, [right.port1]);
    const link = await open;
    const heard = new Promise<unknown>((resolve) => {
      right.port2.addEventListener('message', (event) => resolve(event.data));
      right.port2.start();
    });
    const call = link.link.call(['sessions', 'list'], {}, { context: {} }).catch((error: unknown) => error);
    expect(await heard).toContain('sessions/list');
    // Main says that the port is dead: every call on it ends.
    post({ sotto: 'closed', number: numbers[0] });
    expect(await call).toMatchObject({ code: 'RUNTIME_UNAVAILABLE' });
    expect(await link.closed).toEqual({ signedOut: false });
    wrong.port2.close();
    right.port2.close();
  });

  /** A voice line whose other end the test holds. */
  async function voice(abort = new AbortController()) {
    const { it: side, numbers, options, post } = bridge({ status: 'connected' });
    const open = createAppTransport(side).openVoice(abort.signal);
    await Promise.resolve();
    const { port1, port2 } = new MessageChannel();
    post({ sotto: 'port', number: numbers[0] }, [port1]);
    const link = await open;
    return { link, port2, options, close: () => post({ sotto: 'closed', number: numbers[0] }) };
  }

  it('opens a voice line that keeps what comes early, and carries texts and bytes', async () => {
    const { link, port2, options } = await voice();
    expect(options).toEqual([{ purpose: 'voice' }]);
    port2.postMessage('{"t":"line","id":"1"}');
    port2.postMessage(Uint8Array.of(1, 2, 3));
    port2.postMessage({ t: 'line' });
    port2.postMessage('last');
    const got: unknown[] = [];
    await new Promise<void>((resolve) => {
      link.onMessage((data) => {
        got.push(data);
        if (data === 'last') resolve();
      });
    });
    expect(got).toEqual(['{"t":"line","id":"1"}', Uint8Array.of(1, 2, 3), 'last']);
    const heard: (string | Uint8Array)[] = [];
    const both = new Promise<void>((resolve) => {
      port2.onmessage = ({ data }: MessageEvent<string | Uint8Array>) => {
        if (heard.push(data) === 2) resolve();
      };
    });
    // A part of a larger buffer: a clone would take what lies beside it along.
    link.send(new Uint8Array(8).fill(9).subarray(0, 2));
    link.send('text');
    await both;
    const [bytes, text] = heard;
    expect([[...(bytes ?? [])], text]).toEqual([[9, 9], 'text']);
    expect((bytes as Uint8Array).buffer.byteLength).toBe(2);
    link.close();
    port2.close();
  });

  it('a voice line ends when main says so, when its page closes it, and with the signal', async () => {
    const byMain = await voice();
    byMain.close();
    await byMain.link.closed;
    byMain.link.send('late');
    const byPage = await voice();
    byPage.link.close();
    await byPage.link.closed;
    const abort = new AbortController();
    const bySignal = await voice(abort);
    abort.abort();
    await bySignal.link.closed;
    for (const { port2 } of [byMain, byPage, bySignal]) port2.close();
  });

  it('tells why the runtime did not start', async () => {
    const { it: side } = bridge({ status: 'failed', error: { code: 'DB_FROM_FUTURE', message: '', data: { found: 9, known: 3 } } });
    await expect(createAppTransport(side).open(new AbortController().signal)).rejects.toMatchObject({
      code: 'DB_FROM_FUTURE',
      data: { found: 9, known: 3 },
    });
  });
});

it('the served page speaks with its own host, encrypted when the page is', () => {
  expect(socketAddress({ protocol: 'http:', host: '127.0.0.1:17717' }, '/rpc')).toBe('ws://127.0.0.1:17717/rpc');
  expect(socketAddress({ protocol: 'https:', host: 'sotto.local' }, '/api/voice/stream')).toBe('wss://sotto.local/api/voice/stream');
});
