import { describe, expect, it } from 'vitest';
import { placeCursor, readPlace, walkCursor } from '../../../src/runtime/agent/cursors.ts';
import { DurableEvent, type EphemeralEvent, WatchItem } from '../../../src/shared/domain/events.ts';
import { SessionId } from '../../../src/shared/domain/ids.ts';
import { limits } from '../../../src/shared/domain/limits.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { gate } from '../../helpers/scriptedLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, isEnd, type KernelHarness, takeUntil } from './harness.ts';

const chat = (h: KernelHarness, id?: string) =>
  h.agent.sessions.start({ origin: 'app', title: 'Named', ...(id === undefined ? {} : { sessionId: SessionId.parse(id) }) }).session.id;
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
  return 'none';
};
async function exchange(h: KernelHarness, sessionId: SessionId, content: string) {
  const { turnId } = h.agent.turns.send({ sessionId, content });
  await h.settled(sessionId, turnId);
}
const deltas = (items: WatchItem[]) =>
  items.flatMap((item) => (item.kind === 'ephemeral' && item.event.type === 'output.message.delta' ? [item.event] : []));
/** As a page puts text together: a delta belongs at accumulated − delta.length. */
const textOf = (list: (EphemeralEvent & { type: 'output.message.delta' })[]) =>
  list.reduce((text, { delta, accumulated }) => text.slice(0, accumulated - delta.length) + delta, '');

describe('events.list', () => {
  it('EV-09, EV-10: a walk is pinned to its first page; later events do not show up; a poll has no pin', async () => {
    verifies('EV-09', 'EV-10', 'GE-07');
    await using h = await createKernelHarness();
    const id = chat(h);
    await exchange(h, id, 'one');
    const all = h.log(id);
    const first = h.agent.events.list({ sessionId: id, after: 0, limit: 3 });
    expect(first.events.map((event) => event.sequence)).toEqual([1, 2, 3]);
    await exchange(h, id, 'two');
    const seen = [...first.events];
    for (let cursor = first.nextCursor; cursor !== null; ) {
      const page = h.agent.events.list({ sessionId: id, after: 0, cursor, limit: 3 });
      seen.push(...page.events);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(all);
    for (const event of seen) expect(DurableEvent.parse(event)).toEqual(event);
    // A walk that has ended stays ended, however often its last cursor is used.
    const last = walkCursor('events', { s: id, no: 1, at: all.length, pin: all.length });
    expect(h.agent.events.list({ sessionId: id, after: 0, cursor: last, limit: 3 })).toEqual({ events: [], nextCursor: null });
    expect(h.agent.events.list({ sessionId: id, after: all.length, limit: 500 }).events.length).toBeGreaterThan(0);
  });

  it('EV-10: cursor errors are distinct', async () => {
    verifies('EV-10');
    await using h = await createKernelHarness();
    const [a, b] = [chat(h, 'a'), chat(h, 'b')];
    await exchange(h, a, 'one');
    const { nextCursor } = h.agent.events.list({ sessionId: a, after: 0, limit: 2 });
    if (nextCursor === null) throw new Error('no cursor');
    const list = (sessionId: SessionId, cursor: string) => codeOf(() => h.agent.events.list({ sessionId, after: 0, cursor, limit: 5 }));
    expect(list(a, nextCursor)).toBe('none');
    expect(list(b, nextCursor)).toBe('CURSOR_CROSS_SESSION');
    for (const junk of [
      '',
      'x',
      '%%%',
      nextCursor.slice(0, -4),
      Buffer.from('{"v":1,"k":"events","d":{}}').toString('base64url'),
      Buffer.from('null').toString('base64url'),
    ])
      expect([junk, list(a, junk)]).toEqual([junk, 'CURSOR_MALFORMED']);
    expect(list(a, Buffer.from('{"v":2,"k":"events","d":{}}').toString('base64url'))).toBe('CURSOR_INCOMPATIBLE');
    expect(codeOf(() => h.agent.turns.history({ sessionId: a, limit: 5, cursor: nextCursor }))).toBe('CURSOR_INCOMPATIBLE');
    // The session is gone; another one took its name.
    h.agent.sessions.trash(a);
    h.agent.sessions.erase(a);
    expect(list(a, nextCursor)).toBe('SESSION_NOT_FOUND');
    chat(h, 'a');
    await exchange(h, a, 'anew');
    expect(list(a, nextCursor)).toBe('CURSOR_EXPIRED');
    expect(readPlace(placeCursor('trash', { at: 't', no: 3 }), 'trash')).toEqual({ at: 't', no: 3 });
  });

  it('EV-12: a damaged event is shown, skipped, and noted once in the log', async () => {
    verifies('EV-12');
    await using h = await createKernelHarness();
    const id = chat(h);
    await exchange(h, id, 'one');
    const answer = h.log(id).find((event) => event.type === 'output.message.completed');
    h.store.db.exec('DROP TRIGGER events_fixed');
    h.store.db.prepare('UPDATE events SET data = ? WHERE sequence = ?').run('gar\u0000bage', answer?.sequence);
    const { messages } = h.agent.turns.history({ sessionId: id, limit: 10 });
    expect(messages.map(({ text, unreadable }) => [text, unreadable])).toEqual([
      ['one', false],
      ['', true],
    ]);
    h.agent.turns.history({ sessionId: id, limit: 10 });
    // Reading damage needs no writing.
    const other = chat(h);
    await exchange(h, other, 'two');
    h.store.db.prepare("UPDATE events SET data = 'x' WHERE session = 2 AND sequence = 2").run();
    h.store.db.pragma('query_only = ON');
    expect(h.agent.turns.history({ sessionId: other, limit: 10 }).messages[0]?.unreadable).toBe(true);
    h.store.db.pragma('query_only = OFF');
    await h.clock.advanceAsync(5_000);
    const log = h.log(id);
    expect(log.filter((event) => event.unreadable).map((event) => event.sequence)).toEqual([answer?.sequence]);
    expect(log.filter((event) => event.type === 'transcript.repaired').map((event) => event.data)).toEqual([
      { skipped: [answer?.sequence] },
    ]);
    await exchange(h, id, 'it still opens');
    expect(h.agent.sessions.get(id).status).toBe('idle');
  });
});

describe('turns.history', () => {
  it('EV-09, EV-10, GE-07: pages from the newest backwards, pinned, each oldest first', async () => {
    verifies('EV-09', 'EV-10', 'GE-07');
    await using h = await createKernelHarness({ scripts: (_, call) => [{ say: `a${call}` }] });
    const id = chat(h);
    for (let n = 0; n < 5; n++) await exchange(h, id, `q${n}`);
    const first = h.agent.turns.history({ sessionId: id, limit: 4 });
    expect(first.messages.map((message) => message.text)).toEqual(['q3', 'a3', 'q4', 'a4']);
    expect(first.turns).toHaveLength(2);
    await exchange(h, id, 'later');
    const second = h.agent.turns.history({ sessionId: id, limit: 4, cursor: first.olderCursor ?? '' });
    expect(second.messages.map((message) => message.text)).toEqual(['q1', 'a1', 'q2', 'a2']);
    expect(second.sequence).toBe(first.sequence);
    const third = h.agent.turns.history({ sessionId: id, limit: 4, cursor: second.olderCursor ?? '' });
    expect(third).toMatchObject({ messages: [{ text: 'q0' }, { text: 'a0' }], olderCursor: null });
  });

  it('EV-09: a page that spans more than 20,000 raw events is HISTORY_TOO_LARGE', async () => {
    verifies('EV-09', 'EV-16');
    await using h = await createKernelHarness();
    const id = chat(h);
    await exchange(h, id, 'one');
    h.store.db.prepare('UPDATE sessions SET last_sequence = last_sequence + ?').run(limits.replayEvents);
    expect(codeOf(() => h.agent.turns.history({ sessionId: id, limit: 10 }))).toBe('HISTORY_TOO_LARGE');
  });
});

describe('events.watch', () => {
  it('EV-04, EV-07: the log from a sequence, then live; deltas carry their place; the completed message wins', async () => {
    verifies('EV-04', 'EV-07', 'EV-16');
    const open = gate();
    await using h = await createKernelHarness({
      scripts: [
        { progress: { kind: 'loading', fraction: 0.5 } },
        { progress: { kind: 'prefill', done: 50, total: 100, reused: 0 } },
        { say: 'The capital is' },
        { gate: open },
        { say: ' Tokyo.' },
      ],
    });
    const id = chat(h);
    const watch = h.agent.events.watch({ sessionId: id, after: 1 });
    const first = watch.next();
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'capital?' });
    await open.reached;
    await h.clock.advanceAsync(limits.deltaJoinMs);
    open.open();
    await h.settled(id, turnId);
    const items = [WatchItem.parse((await first).value), ...(await takeUntil(watch, isEnd))];
    for (const item of items) expect(WatchItem.parse(item)).toEqual(item);
    expect(items.flatMap((item) => (item.kind === 'durable' ? [item.event.sequence] : []))).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(textOf(deltas(items))).toBe('The capital is Tokyo.');
    // First piece at once, the rest of its 100 ms joined, then what came after.
    expect(deltas(items).length).toBeLessThanOrEqual(4);
    const stages = items.flatMap((item) =>
      item.kind === 'ephemeral' && item.event.type !== 'output.message.delta' ? [item.event.type] : [],
    );
    expect(stages).toEqual(['model.loading', 'model.prefill', 'model.generating']);
    for (const item of items) if (item.kind === 'ephemeral') expect(item.event).not.toHaveProperty('sequence');
    await watch.return();
  });

  it('a watcher that joins while an answer grows gets the stage and the text so far', async () => {
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'So far so good' }, { gate: open }, { say: ' and done.' }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    await h.clock.advanceAsync(200);
    const watch = h.agent.events.watch({ sessionId: id, after: 3 });
    const first = await takeUntil(watch, (item) => item.kind === 'ephemeral' && item.event.type === 'output.message.delta');
    expect(first.at(-1)).toMatchObject({ event: { delta: 'So far so good', accumulated: 14, turn_id: turnId } });
    open.open();
    const rest = await takeUntil(watch, isEnd);
    expect(textOf(deltas([...first, ...rest]))).toBe('So far so good and done.');
    await watch.return();
    // After the end nothing grows: a new watcher gets the log alone.
    const late = h.agent.events.watch({ sessionId: id, after: 0 });
    expect((await takeUntil(late, isEnd)).every((item) => item.kind === 'durable')).toBe(true);
    await late.return();
  });

  it('EV-08: a reader that falls behind is told how much it missed, reads the gap by sequence, and never slowed the turn', async () => {
    verifies('EV-08');
    await using h = await createKernelHarness();
    const id = chat(h);
    const watch = h.agent.events.watch({ sessionId: id, after: 0 });
    expect((await watch.next()).value).toMatchObject({ kind: 'durable', event: { sequence: 1 } });
    // The second `next` passes the first read and waits at the live end.
    const pending = watch.next();
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await h.settled(id, turnId);
    const row = h.agent.turns.get(id, turnId);
    expect(row.status).toBe('completed');
    h.store.write(() => {
      for (let n = 0; n < limits.liveBufferEvents + 500; n++) h.agent.sessions.setTitle(id, `title ${n}`);
    });
    const items = [
      (await pending).value,
      ...(await takeUntil(
        watch,
        (item) =>
          item.kind === 'durable' &&
          item.event.data.changed !== undefined &&
          JSON.stringify(item.event.data).includes(`title ${limits.liveBufferEvents + 499}`),
      )),
    ];
    const lagged = items.find((item) => item?.kind === 'lagged');
    expect(lagged?.kind === 'lagged' && lagged.missed).toBeGreaterThan(400);
    const sequences = items.flatMap((item) => (item?.kind === 'durable' ? [item.event.sequence] : []));
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    const gapStart = sequences.find((sequence, at) => (sequences[at + 1] ?? sequence + 1) !== sequence + 1) ?? 0;
    const gapEnd = sequences[sequences.indexOf(gapStart) + 1] ?? 0;
    const gap = h.agent.events.list({ sessionId: id, after: gapStart, limit: 500 }).events.filter((event) => event.sequence < gapEnd);
    expect(gap.length).toBe(Math.min(500, gapEnd - gapStart - 1));
    await watch.return();
  });

  it('ends with its signal, and with the session', async () => {
    await using h = await createKernelHarness();
    const id = chat(h);
    const controller = new AbortController();
    const watch = h.agent.events.watch({ sessionId: id, after: 1 }, controller.signal);
    const next = watch.next();
    controller.abort();
    expect((await next).done).toBe(true);
    const other = h.agent.events.watch({ sessionId: id, after: 1 });
    const waiting = takeUntil(other, () => false);
    h.agent.sessions.trash(id);
    h.agent.sessions.erase(id);
    expect((await waiting).length).toBeLessThanOrEqual(1);
    expect(codeOf(() => h.agent.events.watch({ sessionId: id, after: 0 }))).toBe('SESSION_NOT_FOUND');
  });

  it('EV-16: no live event is larger than 64 KiB, however much a model says at once', async () => {
    verifies('EV-16');
    await using h = await createKernelHarness({ scripts: [{ say: `x${'😀'.repeat(60_000)}`, whole: true }] });
    const id = chat(h);
    const watch = h.agent.events.watch({ sessionId: id, after: 1 });
    const first = watch.next();
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await h.settled(id, turnId);
    const items = [WatchItem.parse((await first).value), ...(await takeUntil(watch, isEnd))];
    for (const event of deltas(items)) {
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(limits.maxEphemeralBytes);
      expect(event.delta.isWellFormed()).toBe(true);
    }
    expect(textOf(deltas(items))).toBe(`x${'😀'.repeat(60_000)}`);
    await watch.return();
  });
});
