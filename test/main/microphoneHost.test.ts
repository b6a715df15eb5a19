import { describe, expect, it } from 'vitest';
import { createMicrophonePolicy } from '../../src/main/os/microphone.ts';
import { serveMicrophone } from '../../src/main/os/microphoneHost.ts';
import { createHostGate } from '../../src/runtime/entry/hostGate.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import type { Session } from '../../src/shared/supervision/supervisor.ts';
import { deferred } from '../../src/shared/util/deferred.ts';
import { silentLog } from './fakes.ts';

/** Both real ends, and between them what a channel does: bodies are cloned and come later. */
function setUp(askSystem: () => Promise<boolean> = async () => true) {
  const policy = createMicrophonePolicy();
  const up: ((body: unknown) => void)[] = [];
  const down: ((body: unknown) => void)[] = [];
  let end = (_error: AppError) => {};
  const session: Session = {
    generation: 1,
    pid: 1,
    post: (body) => queueMicrotask(() => down.forEach((listener) => void listener(structuredClone(body)))),
    onBody: (listener) => void up.push(listener),
    onEnd: (listener) => {
      end = listener;
    },
    end: () => {},
    succeeded: () => {},
  };
  serveMicrophone(session, { policy, askSystem, log: silentLog });
  const say = (body: unknown) => up.forEach((listener) => void listener(structuredClone(body)));
  const gate = createHostGate({ post: say, onBody: (listener) => void down.push((body) => listener(body, null)) });
  return { policy, gate, say, die: () => end(new AppError('RUNTIME_UNAVAILABLE')) };
}

describe('the microphone between runtime and main', () => {
  it('is closed, opens with a grant, and closes with the release', async () => {
    const { policy, gate } = setUp();
    expect(policy.isOpen()).toBe(false);
    await gate.grant();
    expect(policy.isOpen()).toBe(true);
    gate.release();
    expect(policy.isOpen()).toBe(false);
  });

  it('PV-09: a mute ends the lease, refuses the next, and its end gives none back', async () => {
    const { policy, gate } = setUp();
    await gate.grant();
    gate.setMuted(true);
    expect(policy.isOpen()).toBe(false);
    await expect(gate.grant()).rejects.toMatchObject({ code: 'MIC_MUTED' });
    expect(policy.isOpen()).toBe(false);
    gate.setMuted(false);
    expect(policy.isOpen()).toBe(false);
    await gate.grant();
    expect(policy.isOpen()).toBe(true);
  });

  it('VO-06: the system is asked before, and its no is MIC_DENIED; a question that fails is a no', async () => {
    const asked: string[] = [];
    const { policy, gate } = setUp(async () => {
      asked.push('asked');
      return false;
    });
    await expect(gate.grant()).rejects.toMatchObject({ code: 'MIC_DENIED' });
    expect(asked).toEqual(['asked']);
    expect(policy.isOpen()).toBe(false);
    const failing = setUp(() => Promise.reject(new Error('no bus')));
    await expect(failing.gate.grant()).rejects.toMatchObject({ code: 'MIC_DENIED' });
    expect(failing.policy.isOpen()).toBe(false);
  });

  it('a yes of the system that comes after a release, a mute or the runtime opens nothing', async () => {
    for (const [change, code] of [
      [({ gate }: ReturnType<typeof setUp>) => gate.release(), 'CANCELLED'],
      [({ gate }: ReturnType<typeof setUp>) => gate.setMuted(true), 'MIC_MUTED'],
    ] as const) {
      const system = deferred<boolean>();
      const both = setUp(() => system.promise);
      const granted = both.gate.grant();
      change(both);
      system.resolve(true);
      await expect(granted).rejects.toMatchObject({ code });
      expect(both.policy.isOpen()).toBe(false);
    }
    const system = deferred<boolean>();
    const dead = setUp(() => system.promise);
    const answered = dead.gate.grant().catch((error: unknown) => error);
    dead.die();
    system.resolve(true);
    expect(await answered).toMatchObject({ code: 'CANCELLED' });
    expect(dead.policy.isOpen()).toBe(false);
  });

  it('the runtime is gone: the lease goes with it, a mute stays', async () => {
    const open = setUp();
    await open.gate.grant();
    open.die();
    expect(open.policy.isOpen()).toBe(false);
    const muted = setUp();
    muted.gate.setMuted(true);
    muted.die();
    expect(muted.policy.isMuted()).toBe(true);
  });

  it('bodies that are no question of ours change nothing', async () => {
    const { policy, gate, say } = setUp();
    for (const body of [null, 'mic.grant', { k: 'mic.grant' }, { k: 'mic.grant', n: 0 }, { k: 'mic.mute', muted: 'no' }, { k: 'mic' }])
      say(body);
    expect(policy.isOpen()).toBe(false);
    await gate.grant();
    for (const body of [
      { k: 'mic.mute', muted: 1 },
      { k: 'mic.release', of: 'me' },
    ])
      say(body);
    expect(policy.isOpen()).toBe(true);
  });

  it('each of two questions gets its own answer, and a ninth at once is refused', async () => {
    const system = deferred<boolean>();
    const { gate, policy } = setUp(() => system.promise);
    const grants = Array.from({ length: 9 }, () =>
      gate.grant().then(
        () => 'granted',
        (error: unknown) => (error as AppError).code,
      ),
    );
    expect(await grants[8]).toBe('VOICE_BUSY');
    system.resolve(true);
    expect(await Promise.all(grants)).toEqual([...Array.from({ length: 7 }, () => 'CANCELLED'), 'granted', 'VOICE_BUSY']);
    expect(policy.isOpen()).toBe(true);
  });
});
