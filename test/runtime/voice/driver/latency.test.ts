import { describe, expect, it } from 'vitest';
import { createLatencyBook } from '../../../../src/runtime/voice/driver/latencyBook.ts';
import { createTurnHandle } from '../../../../src/runtime/voice/driver/turnHandle.ts';
import { newId } from '../../../../src/shared/domain/ids.ts';
import { LATENCY_MARKS, LatencyRecord } from '../../../../src/shared/domain/voiceLatency.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { setUpVoice, spoken } from './harness.ts';

describe('the latency record (VO-76)', () => {
  it('has every mark of a turn that was spoken to its end, in order, from the last voiced frame', async () => {
    verifies('VO-76');
    await using me = setUpVoice();
    const page = await me.armed({ plays: 'by hand' });
    me.listen.hears('what time is it');
    page.press();
    await me.wait(0);
    page.say(spoken());
    await me.wait(400);
    me.listen.shut();
    page.release();
    await me.wait(100);
    me.listen.open();
    await me.wait(50);
    const answer = me.agent.last();
    answer.push({ kind: 'stage', stage: 'reading', fraction: 0 });
    await me.wait(70);
    answer.push({ kind: 'delta', text: 'It is three ' });
    me.speak.shut();
    await me.wait(60);
    answer.push({ kind: 'delta', text: 'o’clock. ' });
    await me.wait(90);
    me.speak.open();
    await me.wait(30);
    page.playPart(0.1);
    await me.wait(10);
    answer.push({ kind: 'ended', how: 'completed' });
    await me.wait(200);
    page.playNext();
    await me.wait(200);
    const { latency } = me.view();
    const marks = LatencyRecord.parse(latency).marks;
    expect(marks).toEqual({
      speechEnd: 0,
      endDecided: 400,
      asrFinal: 500,
      committed: 500,
      contextReady: 550,
      firstToken: 620,
      firstPhrase: 680,
      firstAudioMade: 770,
      firstAudioPlayed: 800,
      replyDone: 810,
      drained: 1_010,
    });
    expect(LATENCY_MARKS.filter((mark) => marks[mark] === undefined)).toEqual([]);
    expect(latency).toMatchObject({ turnId: answer.turnId, device: 'Test microphone', speculated: false, words: 4, bargeIn: null });
  });

  it('one for each turn, 200 at most, the newest first', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    for (let turn = 0; turn < 3; turn += 1) {
      me.agent.answers('Three.');
      await me.ask(page, 'what time is it');
      await me.wait(200);
    }
    expect(me.voice.latency(200).records.map(({ turnId }) => turnId)).toEqual(me.agent.sent.map(({ turnId }) => turnId).reverse());
    expect(me.voice.latency(1).records).toHaveLength(1);

    const book = createLatencyBook();
    for (let turn = 0; turn < 250; turn += 1) book.add(record(turn, 800));
    expect(book.read(1_000).records).toHaveLength(200);
    expect(book.read(1_000).records[0]?.turnId).toBe('249');
  });
});

const record = (turn: number, ms: number): LatencyRecord => ({
  turnId: String(turn),
  marks: { speechEnd: 0, committed: 100, firstToken: ms - 100, firstAudioPlayed: ms },
  bargeIn: null,
  models: { asr: 'a', language: 'l', tts: 't' },
  device: null,
  speculated: false,
  words: 3,
});

describe('slower than usual (VO-77)', () => {
  it('is said once, with the stage, and again only after it was as usual in between', () => {
    verifies('VO-77');
    const book = createLatencyBook();
    let turn = 0;
    const add = (times: number, ms: number) =>
      Array.from({ length: times }, () => book.add(record((turn += 1), ms))).filter((stage) => stage !== null);
    expect(add(40, 800)).toEqual([]);
    expect(add(8, 2_000)).toEqual(['firstToken']);
    expect(add(8, 800)).toEqual([]);
    expect(add(8, 2_000)).toEqual(['firstToken']);
    const { summary } = book.read(200);
    expect(summary).toMatchObject({ toSound: { p50: 800, p95: 2_000 }, slowest: 'firstToken' });
  });

  it('is nothing before there are 20 turns to compare with', () => {
    const book = createLatencyBook();
    for (let turn = 0; turn < 19; turn += 1) book.add(record(turn, 800));
    for (let turn = 0; turn < 5; turn += 1) expect(book.add(record(turn, 5_000))).toBeNull();
  });
});

describe('one handle per turn (VO-72)', () => {
  const make = () => createTurnHandle({ runId: 'run-1', turnId: newId('turn', 1), generation: 3 });

  it('the first reason stays, late listeners are told at once, and twice is nothing', () => {
    verifies('VO-72');
    const handle = make();
    const told: string[] = [];
    handle.onAbort((reason) => told.push(`early ${reason}`));
    expect(handle).toMatchObject({ runId: 'run-1', generation: 3, reason: null });
    handle.abort('barge-in');
    handle.abort('user-cancel');
    handle.onAbort((reason) => told.push(`late ${reason}`));
    expect(told).toEqual(['early barge-in', 'late barge-in']);
    expect(handle.reason).toBe('barge-in');
    expect(handle.signal.aborted).toBe(true);
  });
});

describe('what pages are told (VO-88)', () => {
  it('a change of the phase comes at once, everything else at most each 100 ms, and the last value always', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    let told = 0;
    const stop = new AbortController();
    const watching = (async () => {
      for await (const _ of me.voice.view.watch(stop.signal)) told += 1;
    })();
    await me.settle();
    const before = told;
    page.press();
    await me.settle();
    expect(told).toBe(before + 1);
    expect(me.view().phase).toBe('listening');
    await me.ask(page, 'what time is it');
    await me.wait(1_000);
    const settled = told;
    const turn = me.agent.last();
    for (let i = 0; i < 50; i += 1) {
      turn.push({ kind: 'stage', stage: 'reading', fraction: i / 50 });
      await me.wait(10);
    }
    expect(told - settled).toBeLessThanOrEqual(6);
    await me.wait(100);
    expect(me.view().stage).toEqual({ kind: 'reading', fraction: 0.98 });
    stop.abort();
    await watching;
  });
});
