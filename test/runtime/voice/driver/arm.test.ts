import { describe, expect, it } from 'vitest';
import { createLeases } from '../../../../src/runtime/voice/driver/leases.ts';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { createTestLog } from '../../../helpers/testRuntime.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { createLinePage } from '../../../helpers/voiceLine.ts';
import { setUpVoice } from './harness.ts';

describe('switching voice on', () => {
  it('asks for the microphone before the page opens it, and is ready when models and device are', async () => {
    await using me = setUpVoice();
    const page = await me.page({ opens: 'by hand' });
    expect(me.view()).toMatchObject({ phase: 'off', line: null });
    const armed = me.voice.arm({ line: page.id() });
    await me.settle();
    expect(me.gate.seen.grants).toBe(1);
    expect(page.of('openMic')).toEqual([{ t: 'openMic', device: null }]);
    // Everything is loaded; the device is not open yet.
    expect(me.view().phase).toBe('arming');
    page.mic('opened');
    expect(await armed).toMatchObject({ phase: 'standby', line: page.id(), soundArrived: false });
  });

  it('opens the microphone that the person chose', async () => {
    await using me = setUpVoice({ choices: { microphone: 'Headset' } });
    const page = await me.armed();
    expect(page.of('openMic')).toEqual([{ t: 'openMic', device: 'Headset' }]);
  });

  it('is off by default; leases are taken by arm alone, and given back by disarm', async () => {
    await using me = setUpVoice();
    const page = await me.page();
    page.press();
    await me.wait(1_000);
    expect(me.vad.seen.streams).toBe(0);
    expect(me.gate.seen.grants).toBe(0);
    expect(me.view().notice?.code).toBe('VOICE_NOT_ARMED');
    await me.voice.arm({ line: page.id() });
    expect(me.vad.seen.open).toBe(1);
    expect(me.voice.disarm()).toMatchObject({ phase: 'off', line: null });
    await me.settle();
    expect(me.vad.seen.open).toBe(0);
    expect(me.gate.seen.releases).toBe(1);
    expect(page.isMicOpen()).toBe(false);
  });

  it('does not wait for the voice: a slow machine listens while it still loads, and then speaks', async () => {
    await using me = setUpVoice();
    me.speak.shut();
    const page = await me.armed();
    expect(me.view().phase).toBe('standby');
    me.agent.answers('It is three.');
    await me.ask(page, 'what time is it');
    expect(page.chunks).toEqual([]);
    me.speak.open();
    await me.wait(200);
    expect(page.chunks.length).toBeGreaterThan(0);
    expect(me.view().phase).toBe('standby');
  });

  it('without a voice it still listens: captions, and a notice that says why', async () => {
    await using me = setUpVoice();
    me.speak.fail(new AppError('TTS_UNAVAILABLE', { reason: 'model-missing' }));
    const page = await me.armed();
    await me.wait(100);
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'TTS_UNAVAILABLE', data: { reason: 'model-missing' } } });
    const notice = me.view().notice?.id;
    me.agent.answers('It is three.');
    await me.ask(page, 'what time is it');
    await me.wait(200);
    expect(page.chunks).toEqual([]);
    expect(me.view()).toMatchObject({ phase: 'standby', reply: { phrases: [{ text: 'It is three.' }] } });
    // It was said once, when voice was switched on.
    expect(me.view().notice?.id).toBe(notice);
  });

  it('VO-19: without an activity model push-to-talk goes on, and modes that need it refuse', async () => {
    verifies('VO-19');
    await using me = setUpVoice();
    const missing = new AppError('VAD_UNAVAILABLE', { reason: 'model-missing' });
    me.vad.fail(missing);
    const found: unknown[] = [];
    const leases = createLeases({
      vad: me.vad.vad,
      speechToText: me.listen.speechToText,
      textToSpeech: me.speak.textToSpeech,
      log: createTestLog(),
      on: { ready: () => found.push('ready'), missing: () => found.push('missing'), failed: (_lease, error) => found.push(error) },
    });
    leases.take(1, { withoutActivity: false, speaks: true });
    await me.settle();
    expect(found).toEqual([missing]);

    const page = await me.page();
    await expect(me.voice.arm({ line: page.id(), mode: 'hands-free' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect(me.view()).toMatchObject({ phase: 'off', line: null, mode: 'push-to-talk' });
    const view = await me.voice.arm({ line: page.id(), mode: 'push-to-talk' });
    expect(view).toMatchObject({
      phase: 'standby',
      activity: null,
      notice: { code: 'VAD_UNAVAILABLE', data: { reason: 'model-missing' } },
    });
    // No level gate took its place: all sound goes to the recogniser, which decides alone.
    me.agent.answers('Three.');
    me.listen.hears('what time is it');
    page.press();
    await me.wait(0);
    page.say(new Float32Array(16_000).fill(0.3));
    await me.wait(500);
    page.release();
    await me.wait(0);
    expect(me.listen.heard.at(-1)?.samples).toBeGreaterThan(16_000);
    expect(me.rows()).not.toContain('speechStart');
  });

  it.each([
    ['no recogniser', 'ASR_UNAVAILABLE'],
    ['an engine that nobody starts any more', 'ENGINE_BREAKER_OPEN'],
  ] as const)('%s: it fails with that code, gives everything back, and the next try works', async (_name, code) => {
    await using me = setUpVoice();
    me.listen.fail(new AppError(code, code === 'ASR_UNAVAILABLE' ? { reason: 'model-missing' } : { engineKey: 'speech', retryAfterMs: 5 }));
    const page = await me.page();
    await expect(me.voice.arm({ line: page.id() })).rejects.toMatchObject({ code });
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'failed', line: null, fault: { code }, notice: { code } });
    expect(me.vad.seen.open).toBe(0);
    expect(page.isMicOpen()).toBe(false);
    me.listen.fail(null);
    expect(await me.voice.arm({ line: page.id() })).toMatchObject({ phase: 'standby', fault: null });
  });

  it('a gate that refuses: no page is asked to open anything', async () => {
    await using me = setUpVoice();
    me.gate.fail(new AppError('MIC_DENIED'));
    const page = await me.page();
    await expect(me.voice.arm({ line: page.id() })).rejects.toMatchObject({ code: 'MIC_DENIED' });
    expect(page.of('openMic')).toEqual([]);
    expect(me.view().fault).toEqual({ code: 'MIC_DENIED', data: {} });
  });

  it.each(['MIC_DENIED', 'MIC_MISSING', 'MIC_UNREADABLE'])('a page that cannot open it says why: %s', async (code) => {
    await using me = setUpVoice();
    const page = await me.page({ opens: { fails: code } });
    await expect(me.voice.arm({ line: page.id() })).rejects.toMatchObject({ code });
    expect(me.gate.seen.releases).toBe(me.gate.seen.grants);
    expect(me.view().phase).toBe('failed');
  });

  it('a device that never opens ends at the limit', async () => {
    await using me = setUpVoice();
    const page = await me.page({ opens: 'by hand' });
    const armed = me.voice.arm({ line: page.id() }).catch((error: unknown) => error);
    await me.wait(voiceLimits.armMs);
    expect(await armed).toMatchObject({ code: 'ENGINE_TIMEOUT' });
  });

  it('models that come after voice was switched off again are given back', async () => {
    await using me = setUpVoice();
    me.listen.shut();
    const page = await me.page();
    const armed = me.voice.arm({ line: page.id() }).catch((error: unknown) => error);
    await me.settle();
    expect(me.vad.seen.open).toBe(1);
    me.voice.disarm();
    me.listen.open();
    expect(await armed).toMatchObject({ code: 'CANCELLED' });
    await me.settle();
    expect(me.vad.seen.open).toBe(0);
    expect(me.view().phase).toBe('off');
  });

  it('one microphone: a second page is told that it is taken, and the first keeps it', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    const other = createLinePage(me.voice);
    await me.settle();
    await expect(me.voice.arm({ line: other.id() })).rejects.toMatchObject({ code: 'VOICE_BUSY' });
    await expect(me.voice.arm({ line: 'line_of_nobody' })).rejects.toMatchObject({ code: 'VOICE_LINE_UNKNOWN' });
    expect(me.view()).toMatchObject({ phase: 'standby', line: page.id() });
    // Asking twice is no second lease.
    await me.voice.arm({ line: page.id() });
    expect(me.gate.seen.grants).toBe(1);
    page.close();
    await me.settle();
    expect(me.view().phase).toBe('off');
    await me.voice.arm({ line: other.id() });
    expect(me.view().line).toBe(other.id());
  });

  it('says once which older model decides who speaks', async () => {
    const { fakeVad } = await import('../../../helpers/voiceFakes.ts');
    await using me = setUpVoice({ vad: fakeVad({ model: { modelId: 'older', spare: 'load-failed' } }).vad });
    const page = await me.armed();
    expect(me.view()).toMatchObject({ activity: { modelId: 'older', spare: 'load-failed' }, notice: { code: 'VOICE_ACTIVITY_SPARE' } });
    const { notice } = me.view();
    me.voice.disarm();
    await me.voice.arm({ line: page.id() });
    expect(me.view().notice).toEqual(notice);
  });
});
