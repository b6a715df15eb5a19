import { describe, expect, it } from 'vitest';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { setUpVoice } from './harness.ts';

/** Asked, and the first phrase of the answer is with the page, which plays by hand. */
async function answering(text = 'It is three o’clock. You have a meeting at four. ') {
  const me = setUpVoice();
  const page = await me.armed({ plays: 'by hand' });
  await me.ask(page, 'what time is it');
  me.agent.last().push({ kind: 'stage', stage: 'reading', fraction: 0.5 }, { kind: 'delta', text });
  await me.settle();
  return { me, page };
}

describe('an answer', () => {
  it('sounds while it is written, and is over when its last sound is', async () => {
    const { me, page } = await answering('It is three o’clock. ');
    await using _ = me;
    expect(me.phase()).toBe('thinking');
    page.playPart(0.3);
    await me.settle();
    expect(me.phase()).toBe('speaking');
    page.playNext();
    me.agent.last().push({ kind: 'delta', text: 'You have a meeting.' }, { kind: 'ended', how: 'completed' });
    await me.settle();
    expect(page.of('finish')).toEqual([{ t: 'finish', generation: 1 }]);
    expect(me.phase()).toBe('speaking');
    page.playNext();
    await me.settle();
    expect(me.phase()).toBe('standby');
    expect(me.view().reply?.phrases.map(({ text }) => text)).toEqual(['It is three o’clock.', 'You have a meeting.']);
    // All of it was heard: nothing is cut from it.
    expect(me.agent.heard).toEqual([]);
  });

  it('of signs alone ends without a sound', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.answers('…');
    await me.ask(page, 'say nothing');
    await me.wait(200);
    expect(me.view().phase).toBe('standby');
    expect(page.of('finish')).toEqual([]);
  });

  it('that fails says so, and what was made of it is silenced', async () => {
    const { me, page } = await answering();
    await using _ = me;
    page.playPart(0.3);
    await me.settle();
    me.agent.last().fail(new AppError('MODEL_DOES_NOT_FIT', { needBytes: 10, freeBytes: 5 }));
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'MODEL_DOES_NOT_FIT', data: { needBytes: 10, freeBytes: 5 } } });
    expect(page.of('stop')).toEqual([{ t: 'stop', generation: 1 }]);
    expect(page.of('cue')).toContainEqual({ t: 'cue', kind: 'failed' });
  });

  it('that cannot be begun is a failure of its turn, and the next one works', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.refuse(new AppError('MODEL_NOT_INSTALLED', { modelId: 'language' }));
    await me.ask(page, 'what time is it');
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'MODEL_NOT_INSTALLED', data: { modelId: 'language' } } });
    me.agent.refuse(null);
    me.agent.answers('Three.');
    await me.ask(page, 'what time is it');
    expect(me.agent.sent).toHaveLength(1);
  });

  it('that begins anew is spoken anew', async () => {
    const { me, page } = await answering('I think that it is');
    await using _ = me;
    me.agent.last().push({ kind: 'replaced' }, { kind: 'delta', text: 'It is three o’clock.' }, { kind: 'ended', how: 'completed' });
    await me.settle();
    expect(me.speak.texts().join(' ')).toContain('It is three o’clock.');
    expect(page.chunks.length).toBeGreaterThan(0);
  });

  it('with a table names it and does not read it', async () => {
    verifies('VO-67');
    const table = [
      '| city | weather |',
      '|---|---|',
      ...Array.from({ length: 40 }, (_, i) => `| town ${i} | sunny and rather warm today |`),
    ].join('\n');
    const { me, page } = await answering(`Here it is:\n\n${table}\n\n`);
    await using _ = me;
    page.playNext();
    await me.settle();
    expect(me.speak.texts().join(' ')).toContain('A table with forty rows is on screen.');
    expect(me.speak.texts().join(' ')).not.toContain('town');
  });

  it('shows what is done meanwhile', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    await me.ask(page, 'what time is it');
    me.agent.last().push({ kind: 'stage', stage: 'loading', fraction: 0.25 });
    await me.wait(200);
    expect(me.view()).toMatchObject({ phase: 'thinking', stage: { kind: 'loading', fraction: 0.25 } });
  });

  it('VO-78: one sign that it is slow, and none if it sounds in time', async () => {
    verifies('VO-78');
    const { me, page } = await answering();
    await using _ = me;
    await me.wait(voiceLimits.earconMs - 500 - 1);
    page.playPart(0.1);
    await me.wait(voiceLimits.earconMs);
    expect(page.of('cue').filter(({ kind }) => kind === 'slow')).toEqual([]);

    await using slow = setUpVoice();
    const other = await slow.armed();
    await slow.ask(other, 'what time is it');
    slow.agent.last().push({ kind: 'stage', stage: 'reading', fraction: 0.4 });
    await slow.wait(voiceLimits.earconMs * 3);
    expect(other.of('cue').filter(({ kind }) => kind === 'slow')).toHaveLength(1);
    // Slow differs from stuck: how far it is can be seen.
    expect(slow.view().stage).toEqual({ kind: 'reading', fraction: 0.4 });
  });
});

describe('ending it (VO-72 to VO-75)', () => {
  it('a press silences it at once, ends the turn, and stores what was heard', async () => {
    verifies('VO-73', 'VO-74');
    const { me, page } = await answering();
    await using _ = me;
    page.playNext();
    page.playPart(0.5);
    await me.settle();
    const sounds = page.chunks.length;
    page.press();
    await me.settle();
    expect(page.of('stop')).toEqual([{ t: 'stop', generation: 1 }]);
    expect(me.agent.cancelled).toMatchObject([{ turn: { turnId: me.agent.last().turnId }, reason: 'barge-in' }]);
    const [heard] = me.agent.heard;
    expect(me.agent.heard).toHaveLength(1);
    expect('It is three o’clock. You have a meeting at four.'.slice(0, heard?.units)).toMatch(/^It is three o’clock\. You have a\b/);
    expect(me.phase()).toBe('listening');
    // Its sound was being made, and its words still came: nothing of that is ever heard.
    me.agent.last().push({ kind: 'delta', text: ' And one at five.' });
    await me.settle();
    expect(page.chunks.length).toBe(sounds);
    expect(me.speak.calls.at(-1)?.signal.aborted).toBe(true);
  });

  it('the page says last what it had sounded, and that counts', async () => {
    const { me, page } = await answering();
    await using _ = me;
    page.playPart(0.01);
    await me.settle();
    // The page played on before the stop reached it.
    page.playPart(0.9);
    page.press();
    await me.settle();
    expect(me.agent.heard[0]?.units).toBeGreaterThan(10);
    expect(me.view().latency).toBeNull();
    expect(me.voice.latency(1).records[0]?.bargeIn).toMatchObject({ silentMs: expect.any(Number) });
  });

  it('a page that says nothing more keeps nobody waiting', async () => {
    const { me, page } = await answering();
    await using _ = me;
    page.playNext();
    await me.settle();
    page.close();
    await me.settle();
    await me.wait(1_000);
    expect(me.agent.heard).toHaveLength(1);
  });

  it('Stop ends it without a sound more, and its model and voice with it', async () => {
    const { me, page } = await answering();
    await using _ = me;
    page.playPart(0.3);
    await me.settle();
    expect(me.voice.cancel()).toEqual({ cancelled: true });
    await me.settle();
    expect(me.agent.cancelled).toMatchObject([{ reason: 'user-cancel' }]);
    expect(me.speak.calls.at(-1)?.signal.aborted).toBe(true);
    expect(me.view()).toMatchObject({ phase: 'standby' });
    // Once is enough.
    expect(me.voice.cancel()).toEqual({ cancelled: false });
    expect(me.agent.cancelled).toHaveLength(1);
  });

  it('one that somebody ended elsewhere is silent too', async () => {
    verifies('VO-73');
    const { me, page } = await answering();
    await using _ = me;
    page.playPart(0.3);
    await me.settle();
    me.agent.last().push({ kind: 'ended', how: 'cancelled' });
    await me.settle();
    expect(me.phase()).toBe('standby');
    expect(page.of('stop')).toHaveLength(1);
    expect(me.steps.at(-1)?.input).toEqual({ type: 'cancel', reason: 'external' });
  });

  it('switching off ends the turn; what the page then says of an old answer is nothing', async () => {
    verifies('VO-74');
    const { me, page } = await answering();
    await using _ = me;
    page.playPart(0.3);
    await me.settle();
    me.voice.disarm();
    await me.settle();
    expect(me.agent.cancelled).toMatchObject([{ reason: 'user-cancel' }]);
    expect(me.agent.heard).toHaveLength(1);
    page.up({ t: 'played', generation: 1, heard: { phrase: 0, from: 0, to: 5, ms: 100 }, done: true });
    page.up({ t: 'drained', generation: 1 });
    await me.settle();
    expect(me.phase()).toBe('off');
  });

  it('without a loudspeaker the rest is captions, and the turn still ends', async () => {
    const { me, page } = await answering();
    await using _ = me;
    page.playPart(0.3);
    await me.settle();
    page.up({ t: 'outputLost' });
    page.up({ t: 'drained', generation: 1 });
    await me.settle();
    expect(me.view().notice).toMatchObject({ code: 'DEVICE_LOST', data: { kind: 'output' } });
    me.agent.last().push({ kind: 'delta', text: ' And one at five.' }, { kind: 'ended', how: 'completed' });
    await me.wait(200);
    expect(me.view()).toMatchObject({ phase: 'standby' });
    expect(me.view().reply?.phrases.at(-1)?.text).toBe('And one at five.');
  });
});
