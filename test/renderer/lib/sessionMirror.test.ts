import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyItem, fromHistory, type MirrorState, openTurn, withOlder } from '../../../src/renderer/lib/sessionMirror.ts';
import type { DurableEvent, WatchItem } from '../../../src/shared/domain/events.ts';
import { type MessageId, newId, type SessionId, type TurnId } from '../../../src/shared/domain/ids.ts';
import type { TranscriptMessage } from '../../../src/shared/domain/session.ts';
import { verifies } from '../../helpers/verifies.ts';

const at = '2026-05-03T09:41:00.000Z';
const turnId = newId('turn', 1);
const messageId = newId('msg', 1);
const empty: MirrorState = fromHistory({ messages: [], turns: [], sequence: 0, olderCursor: null }, null);

const durable = (sequence: number, type: string, data: DurableEvent['data'], turn: TurnId | undefined = turnId): WatchItem => ({
  kind: 'durable',
  event: {
    id: newId('event', sequence),
    type,
    ts: at,
    session_id: 's' as SessionId,
    sequence,
    context: turn === undefined ? {} : { turn_id: turn },
    data,
  },
});
const delta = (text: string, accumulated: number, id: MessageId = messageId, turn: TurnId = turnId): WatchItem => ({
  kind: 'ephemeral',
  event: { type: 'output.message.delta', turn_id: turn, message_id: id, delta: text, accumulated },
});
const input = (sequence: number, text = 'Hello', turn = turnId, retryOf?: TurnId) =>
  durable(
    sequence,
    'input.message',
    {
      message: { id: newId('msg', sequence), role: 'user', content: [{ type: 'text', text }] },
      delivery: 'started',
      source: 'app',
      ...(retryOf === undefined ? {} : { retry_of: retryOf }),
    },
    turn,
  );
const started = (sequence: number, turn = turnId) =>
  durable(sequence, 'turn.started', { turn_id: turn, attempt: 1, idempotency_key: 'k' }, turn);
const output = (sequence: number, text: string, turn = turnId, id = messageId) =>
  durable(
    sequence,
    'output.message.completed',
    { message: { id, role: 'assistant', content: [{ type: 'text', text }] }, phase: 'final' },
    turn,
  );
const completed = (sequence: number, turn = turnId) => durable(sequence, 'turn.completed', { turn_id: turn, stop_reason: 'end' }, turn);

const play = (items: readonly WatchItem[], from = empty) => items.reduce((state, item, i) => applyItem(state, item, i), from);

describe('the mirror of a chat', () => {
  it('any split of a stream gives the same text, with or without a catch-up in the middle', () => {
    verifies('UX-28', 'UX-01');
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 20 }), fc.nat(), (pieces, cut) => {
        const whole = pieces.join('');
        let said = '';
        const items = pieces.map((piece) => {
          said += piece;
          return delta(piece, said.length);
        });
        expect(play([input(1), started(2), ...items]).growing?.text).toBe(whole);
        // A watcher that joins late is told the text so far from its beginning, then goes on.
        const k = cut % pieces.length;
        const sofar = pieces.slice(0, k + 1).join('');
        const late = play([input(1), started(2), delta(sofar, sofar.length), ...items.slice(k + 1)]);
        expect(late.growing?.text).toBe(whole);
        expect(late.growing?.hole).toBe(false);
        // Items that are told twice change nothing.
        expect(play([input(1), started(2), ...items, delta(whole, whole.length)]).growing?.text).toBe(whole);
      }),
    );
  });

  it('a missed piece is never papered over: the text stops before it until the whole comes', () => {
    verifies('UX-01');
    const state = play([input(1), started(2), delta('One ', 4), delta('three', 13)]);
    expect(state.growing).toMatchObject({ text: 'One ', hole: true });
    const later = play([delta(' four', 18)], state);
    expect(later.growing).toMatchObject({ text: 'One ', hole: true });
    expect(play([output(3, 'One two three four'), completed(4)], later)).toMatchObject({ growing: null });
  });

  it('deltas are dropped when the completed event arrives, and late ones of that turn stay dropped', () => {
    verifies('UX-01');
    const state = play([input(1), started(2), delta('Hel', 3), output(3, 'Hello'), completed(4), delta('lo', 5)]);
    expect(state.growing).toBeNull();
    expect(state.messages.map((m) => m.text)).toEqual(['Hello', 'Hello']);
    expect(state.turns.get(turnId)?.status).toBe('completed');
  });

  it('a replay after a reconnect changes nothing', () => {
    verifies('UX-01');
    const items = [input(1), started(2), output(3, 'Hi'), completed(4)];
    const once = play(items);
    expect(play(items, once)).toEqual(once);
    fc.assert(
      fc.property(fc.nat({ max: 3 }), (from) => {
        expect(play(items.slice(from), once)).toEqual(once);
      }),
    );
  });

  it('an event of a newer program only moves the sequence', () => {
    const state = play([input(1), durable(2, 'future.event', { anything: true })]);
    expect(state.sequence).toBe(2);
    expect(state.stale).toBe(false);
    expect(state.messages).toHaveLength(1);
  });

  it('what cannot be understood asks for the page to be read again', () => {
    for (const item of [
      durable(1, 'turn.completed', { nonsense: 1 }),
      durable(1, 'output.message.replaced', { message_id: messageId, reason: 'x' }),
      { kind: 'lagged', missed: 5 } as const,
    ])
      expect(applyItem(empty, item, 0).stale).toBe(true);
  });

  it('a retry marks the earlier exchange as replaced', () => {
    const second = newId('turn', 2);
    const state = play([input(1), started(2), output(3, 'Hi'), completed(4), input(5, 'Hello', second, turnId), started(6, second)]);
    expect(state.messages.filter((m) => m.turnId === turnId).every((m) => m.supersededBy === second)).toBe(true);
    expect(state.turns.get(second)?.retryOf).toBe(turnId);
    expect(openTurn(state)?.id).toBe(second);
  });

  it('what was heard of a spoken answer stands at its message, and words that went on fold the cut ones away', () => {
    const heard = durable(5, 'output.message.heard', { message_id: messageId, heard_characters: 1 });
    const state = play([input(1), started(2), output(3, 'Hi'), completed(4), heard]);
    expect(state.messages.map((m) => m.heard)).toEqual([null, 1]);
    expect(state.stale).toBe(false);
    const second = newId('turn', 2);
    const data = {
      message: { id: newId('msg', 6), role: 'user', content: [{ type: 'text', text: 'Hello you' }] },
      delivery: 'started',
      source: 'voice',
    };
    const joined = play([durable(6, 'input.message', { ...data, replaces: turnId }, second)], state);
    expect(joined.messages.map((m) => m.supersededBy)).toEqual([second, second, null]);
    expect(joined.turns.get(second)?.retryOf).toBeNull();
  });

  it('a turn cut off by a crash waits for a person; resumed it runs again', () => {
    const cut = play([input(1), started(2), delta('Hal', 3), durable(3, 'turn.interrupted', { turn_id: turnId })]);
    expect(cut.growing).toBeNull();
    expect(openTurn(cut)?.waitingOn).toBe('needs_reconciliation');
    const resumed = play([durable(4, 'turn.resumed', { turn_id: turnId, rerun: [], not_rerun: [] })], cut);
    expect(openTurn(resumed)).toMatchObject({ status: 'running', waitingOn: null });
  });

  it('a failed turn carries the code and figures of its error', () => {
    const state = play([
      input(1),
      started(2),
      durable(3, 'turn.failed', { turn_id: turnId, error: 'x', error_code: 'OUT_OF_MEMORY', details: { stage: 'decode' } }),
    ]);
    expect(state.turns.get(turnId)).toMatchObject({ status: 'failed', error: { code: 'OUT_OF_MEMORY', details: { stage: 'decode' } } });
  });

  it('older pages come in front, each message once', () => {
    const message = (sequence: number): TranscriptMessage => ({
      id: newId('msg', sequence),
      turnId,
      role: 'user',
      text: String(sequence),
      sequence,
      at,
      interrupted: false,
      unreadable: false,
      supersededBy: null,
      heard: null,
    });
    const [one, two, three] = [message(1), message(2), message(3)];
    const state = fromHistory({ messages: [two, three], turns: [], sequence: 3, olderCursor: 'c' }, null);
    const both = withOlder(state, { messages: [one, two], turns: [], sequence: 3, olderCursor: null });
    expect(both.messages.map((m) => m.sequence)).toEqual([1, 2, 3]);
    expect(both.olderCursor).toBeNull();
    // Reading the newest page again after a gap keeps the older ones that were already read.
    const again = fromHistory({ messages: [two, three], turns: [], sequence: 5, olderCursor: 'c' }, both);
    expect(again.messages.map((m) => m.sequence)).toEqual([1, 2, 3]);
    expect(again.olderCursor).toBeNull();
  });
});
