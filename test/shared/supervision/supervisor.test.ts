import { describe, expect, it } from 'vitest';
import { createInlineStarter, type InlineChild } from '../../../src/runtime/platform/inlineStarter.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { ParentFrame } from '../../../src/shared/supervision/frames.ts';
import { createSupervisor } from '../../../src/shared/supervision/supervisor.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

type Child = InlineChild & { generation: number; frames: ParentFrame[] };

/** A supervisor over in-memory children that a test plays. */
function setUp(play: (child: Child, frame: ParentFrame) => void) {
  const clock = createFakeClock();
  const children: Child[] = [];
  const starter = createInlineStarter((inline) => {
    const child: Child = Object.assign(inline, { generation: 0, frames: [] as ParentFrame[] });
    children.push(child);
    inline.onMessage((message) => {
      const frame = ParentFrame.parse(message);
      child.generation = frame.generation;
      child.frames.push(frame);
      play(child, frame);
    });
  });
  const log: string[] = [];
  const supervisor = createSupervisor({
    starter,
    spec: { name: 'test', entry: 'engine', args: [], env: {} },
    clock,
    log: (event) => log.push(event),
  });
  return { clock, children, supervisor, log };
}

const wellBehaved = (child: Child, frame: ParentFrame) => {
  if (frame.k === 'hello') child.post({ k: 'ready', generation: frame.generation });
  if (frame.k === 'ping') child.post({ k: 'pong', generation: frame.generation, n: frame.n });
  if (frame.k === 'app') child.post({ k: 'app', generation: frame.generation, body: { echo: frame.body } });
  if (frame.k === 'stop') {
    child.post({ k: 'goodbye', generation: frame.generation });
    child.exit(0);
  }
};

describe('createSupervisor', () => {
  it('gives all who wait the same session, and carries bodies both ways', async () => {
    const { supervisor, children } = setUp(wellBehaved);
    const [one, two] = await Promise.all([supervisor.ensure(), supervisor.ensure()]);
    expect(one).toBe(two);
    expect(children).toHaveLength(1);
    const answer = new Promise((resolve) => one.onBody(resolve));
    one.post({ hello: 1 });
    expect(await answer).toEqual({ echo: { hello: 1 } });
  });

  it('ends a session exactly once with a typed error when the child dies', async () => {
    const { supervisor, children } = setUp(wellBehaved);
    const session = await supervisor.ensure();
    const ends: AppError[] = [];
    session.onEnd((error) => ends.push(error));
    children[0]?.exit(0);
    await Promise.resolve();
    await Promise.resolve();
    expect(ends.map((error) => error.code)).toEqual(['ENGINE_CRASHED']);
    const late: AppError[] = [];
    session.onEnd((error) => late.push(error));
    expect(late).toEqual(ends);
    session.post('into the void');
  });

  it('never repeats what it sent to a child that died', async () => {
    const { supervisor, children, clock } = setUp(wellBehaved);
    const session = await supervisor.ensure();
    session.post('once');
    children[0]?.exit(1);
    await clock.advanceAsync(1000);
    await supervisor.ensure();
    expect(children).toHaveLength(2);
    expect(children[1]?.frames.map((frame) => frame.k)).toEqual(['hello']);
  });

  it('passes the error of the owner that ended the child', async () => {
    const { supervisor } = setUp(wellBehaved);
    const session = await supervisor.ensure();
    const end = new Promise<AppError>((resolve) => session.onEnd(resolve));
    session.end(new AppError('ENGINE_TIMEOUT', { engineKey: 'test', stage: 'decode' }));
    expect(await end).toMatchObject({ code: 'ENGINE_TIMEOUT', data: { stage: 'decode' } });
    await supervisor.stop();
    expect(supervisor.status()).toMatchObject({ phase: 'exited', lastError: 'ENGINE_TIMEOUT' });
  });

  it('tells the typed reason of a child that cannot come up', async () => {
    const { supervisor } = setUp((child, frame) => {
      if (frame.k === 'hello')
        child.post({
          k: 'failed',
          generation: frame.generation,
          error: { code: 'NATIVE_LIBRARY_MISSING', message: 'x', data: { library: 'llama' } },
        });
      if (frame.k === 'stop') child.exit(1);
    });
    await expect(supervisor.ensure()).rejects.toMatchObject({ code: 'NATIVE_LIBRARY_MISSING', data: { library: 'llama' } });
  });

  it('kills a child that never gets ready, and one that ignores stop', async () => {
    const { supervisor, clock, children } = setUp(() => {});
    const start = supervisor.ensure();
    const refused = expect(start).rejects.toMatchObject({ code: 'ENGINE_TIMEOUT', data: { stage: 'start' } });
    await clock.advanceAsync(10_000);
    await refused;
    expect(children).toHaveLength(1);
    expect(supervisor.status().phase).toBe('exited');
  });

  it('resolves stop only when the child is gone', async () => {
    const { supervisor, clock } = setUp((child, frame) => {
      if (frame.k === 'hello') child.post({ k: 'ready', generation: frame.generation });
    });
    await supervisor.ensure();
    let stopped = false;
    const stop = supervisor.stop().then(() => {
      stopped = true;
    });
    await clock.advanceAsync(2_999);
    expect(stopped).toBe(false);
    await clock.advanceAsync(1);
    await stop;
    expect(supervisor.status()).toMatchObject({ phase: 'exited', lastError: 'ENGINE_TIMEOUT' });
  });

  it('opens the breaker after three crashes and says how long', async () => {
    const { supervisor, clock } = setUp((child) => child.exit(1));
    for (let i = 0; i < 3; i++) {
      const refused = expect(supervisor.ensure()).rejects.toMatchObject({ code: 'ENGINE_CRASHED', data: { stage: 'start' } });
      await clock.advanceAsync(2_000);
      await refused;
    }
    await expect(supervisor.ensure()).rejects.toMatchObject({ code: 'ENGINE_BREAKER_OPEN', data: { engineKey: 'test' } });
    expect(supervisor.status().phase).toBe('broken');
  });

  it('lets a caller give up without stopping the child', async () => {
    const { supervisor, children } = setUp(wellBehaved);
    const abort = new AbortController();
    const given = supervisor.ensure(abort.signal);
    abort.abort();
    await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
    await supervisor.ensure();
    expect(children).toHaveLength(1);
  });

  it('pings, and keeps a child that answers', async () => {
    const { supervisor, children, clock } = setUp(wellBehaved);
    await supervisor.ensure();
    await clock.advanceAsync(60_000);
    expect(supervisor.status().phase).toBe('ready');
    expect(children[0]?.frames.filter((frame) => frame.k === 'ping').length).toBeGreaterThan(5);
  });

  it('refuses everything after dispose', async () => {
    const { supervisor } = setUp(wellBehaved);
    await supervisor.ensure();
    await supervisor.dispose();
    await expect(supervisor.ensure()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('ends a child that sends what is no frame', async () => {
    const { supervisor } = setUp((child, frame) => {
      wellBehaved(child, frame);
      if (frame.k === 'app') child.post({ k: 'surprise' });
    });
    const session = await supervisor.ensure();
    const end = new Promise<AppError>((resolve) => session.onEnd(resolve));
    session.post('x');
    expect((await end).code).toBe('ENGINE_PROTOCOL');
  });
});
