import { describe, expect, it } from 'vitest';
import { tone } from '../../../helpers/audio.ts';
import { createLinePage } from '../../../helpers/voiceLine.ts';
import { setUpVoice, spoken } from './harness.ts';

const frame = () => tone(300, 32);

describe('what comes by a line', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['a text that is no message', '{"t":"key"}'],
    ['no JSON', 'hello'],
    ['bytes that are no frame', new Uint8Array(100)],
  ])('%s ends it, and voice with it if the microphone was its own', async (_name, data) => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.raw(data);
    await me.settle();
    expect(page.closedFor()).toBe('bad');
    expect(me.view()).toMatchObject({ phase: 'off', line: null, notice: { code: 'VOICE_PAGE_GONE' } });
  });

  it('frames that nobody asked for, and those of another page, reach nothing', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    const other = createLinePage(me.voice);
    await me.settle();
    page.sendAnyway(frame());
    other.sendAnyway(frame());
    await me.settle();
    expect(me.voice.counts()).toMatchObject({ taken: 0, unasked: 1, foreign: 1 });
    page.press();
    await me.settle();
    other.sendAnyway(frame());
    page.say(frame());
    await me.settle();
    expect(me.voice.counts()).toMatchObject({ taken: 1, foreign: 2 });
    // Nor do its keys: the microphone is not its own.
    other.release();
    await me.settle();
    expect(me.view().key).toBe('down');
  });

  it('frames that come late belong to what was dropped, never to what is said next', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.settle();
    page.say(spoken());
    // On their way when it is dropped.
    me.voice.cancel();
    page.say(spoken());
    page.press();
    await me.settle();
    expect(me.view().phase).toBe('listening');
    expect(me.listen.heard.at(-1)?.samples ?? 0).toBe(0);
    expect(me.voice.counts().unasked).toBeGreaterThan(0);
  });

  it('a page that closes takes voice with it; its answer goes on as text', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ plays: 'by hand' });
    await me.ask(page, 'what time is it');
    me.agent.last().push({ kind: 'delta', text: 'It is three. ' });
    await me.settle();
    page.close();
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'off', notice: { code: 'VOICE_PAGE_GONE' } });
    expect(me.agent.cancelled).toEqual([]);
  });

  it('sixteen pages, and the next is turned away', async () => {
    await using me = setUpVoice();
    const pages = Array.from({ length: 17 }, () => createLinePage(me.voice));
    await me.settle();
    expect(pages.map((page) => page.closedFor())).toEqual([...Array.from({ length: 16 }, () => null), 'busy']);
    expect(new Set(pages.slice(0, 16).map((page) => page.id())).size).toBe(16);
  });
});

describe('hard mute (RB-55)', () => {
  it('no sample reaches anything while muted: in rest, while talking, while an answer sounds, after a restart', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ plays: 'by hand' });
    page.press();
    await me.settle();
    page.say(spoken());
    await me.settle();
    const { taken } = me.voice.counts();
    expect(taken).toBeGreaterThan(0);
    me.voice.setMuted(true);
    for (let i = 0; i < 1_875; i += 1) page.sendAnyway(frame());
    await me.settle();
    expect(me.voice.counts()).toMatchObject({ taken, whileMuted: 1_875 });
    expect(me.view()).toMatchObject({ phase: 'standby', muted: true });
    expect(page.isMicOpen()).toBe(false);
    expect(me.gate.seen).toMatchObject({ muted: true, releases: 1 });
    // What was being said is gone: no turn comes of it.
    page.release();
    await me.wait(3_000);
    expect(me.agent.sent).toEqual([]);
    page.press();
    await me.settle();
    expect(me.view().notice?.code).toBe('MIC_MUTED');

    // Only this call lifts it, and the device is opened anew.
    me.voice.setMuted(false);
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'standby', muted: false, soundArrived: true });
    expect(page.of('openMic')).toHaveLength(2);

    me.agent.answers('It is three.');
    await me.ask(page, 'what time is it');
    page.playPart(0.5);
    await me.settle();
    expect(me.phase()).toBe('speaking');
    const before = me.voice.counts().taken;
    me.voice.setMuted(true);
    for (let i = 0; i < 60; i += 1) page.sendAnyway(frame());
    await me.settle();
    expect(me.voice.counts().taken).toBe(before);
    // The answer is not ours to mute.
    expect(me.phase()).toBe('speaking');
  });

  it('it survives a restart, and voice cannot be switched on while it lasts', async () => {
    await using me = setUpVoice({ choices: { muted: true } });
    const page = await me.page();
    expect(me.view()).toMatchObject({ phase: 'off', muted: true });
    expect(me.gate.seen.muted).toBe(true);
    await expect(me.voice.arm({ line: page.id() })).rejects.toMatchObject({ code: 'MIC_MUTED' });
    expect(me.gate.seen.grants).toBe(0);
    expect(page.of('openMic')).toEqual([]);
    me.voice.setMuted(false);
    expect(me.choices.get().muted).toBe(false);
    expect(await me.voice.arm({ line: page.id() })).toMatchObject({ phase: 'standby' });
  });

  it('muted while it is being switched on: off again, and the caller is told why', async () => {
    await using me = setUpVoice();
    const page = await me.page({ opens: 'by hand' });
    const armed = me.voice.arm({ line: page.id() }).catch((error: unknown) => error);
    await me.settle();
    me.voice.setMuted(true);
    expect(await armed).toMatchObject({ code: 'MIC_MUTED' });
    expect(me.view()).toMatchObject({ phase: 'off', muted: true });
    expect(me.gate.seen.releases).toBe(me.gate.seen.grants);
  });
});
