import { describe, expect, it } from 'vitest';
import { createMicrophoneTest } from '../../../src/runtime/voice/microphoneTest.ts';
import type { VoicePhase } from '../../../src/shared/domain/voice.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';

function setUp() {
  const calls: string[] = [];
  let phase: VoicePhase = 'off';
  let refuse: AppError | null = null;
  const test = createMicrophoneTest({
    gate: {
      async grant() {
        calls.push('grant');
        if (refuse !== null) throw refuse;
      },
      release: () => void calls.push('release'),
    },
    phase: () => phase,
  });
  return {
    test,
    calls,
    become: (next: VoicePhase) => {
      phase = next;
    },
    refuseWith: (error: AppError | null) => {
      refuse = error;
    },
  };
}

describe('the microphone without talking', () => {
  it('is granted before the item and given back when the caller goes', async () => {
    const { test, calls } = setUp();
    const abort = new AbortController();
    const lease = test.hold(abort.signal);
    expect(await lease.next()).toEqual({ done: false, value: { granted: true } });
    expect(calls).toEqual(['grant']);
    const end = lease.next();
    abort.abort();
    expect((await end).done).toBe(true);
    expect(calls).toEqual(['grant', 'release']);
  });

  it('one at a time, and none while voice is on', async () => {
    const { test, calls, become } = setUp();
    const first = test.hold(undefined);
    await first.next();
    await expect(test.hold(undefined).next()).rejects.toMatchObject({ code: 'VOICE_BUSY' });
    await first.return();
    become('standby');
    await expect(test.hold(undefined).next()).rejects.toMatchObject({ code: 'VOICE_BUSY' });
    expect(calls).toEqual(['grant', 'release']);
  });

  it('does not take the microphone from a voice that was turned on meanwhile', async () => {
    const { test, calls, become } = setUp();
    const lease = test.hold(undefined);
    await lease.next();
    become('arming');
    await lease.return();
    expect(calls).toEqual(['grant']);
  });

  it('a refusal holds nothing: the next try is free', async () => {
    const { test, calls, refuseWith } = setUp();
    refuseWith(new AppError('MIC_MUTED'));
    await expect(test.hold(undefined).next()).rejects.toMatchObject({ code: 'MIC_MUTED' });
    refuseWith(null);
    const again = test.hold(undefined);
    expect((await again.next()).value).toEqual({ granted: true });
    await again.return();
    expect(calls).toEqual(['grant', 'release', 'grant', 'release']);
  });

  it('is free again when voice failed: who was refused the microphone can look what is wrong with it', async () => {
    const { test, calls, become } = setUp();
    become('failed');
    const stop = new AbortController();
    const held = test.hold(stop.signal);
    expect(await held.next()).toMatchObject({ value: { granted: true } });
    stop.abort();
    await held.next();
    expect(calls).toEqual(['grant', 'release']);
  });
});
