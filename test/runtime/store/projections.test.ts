import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/runtime/store/eventLog.ts';
import type { SessionId, TurnId } from '../../../src/shared/domain/ids.ts';
import { verifies } from '../../helpers/verifies.ts';
import { completed, createLogHarness, type LogHarness, reasoned, reply } from './helpers.ts';

/** Everything that follows from the log of one session, and what full text finds of it. */
function projected(h: LogHarness, id: SessionId) {
  const { db } = h.store;
  const no = h.no(id);
  return {
    session: db.prepare('SELECT * FROM sessions WHERE no = ?').get(no),
    turns: db
      .prepare(
        `SELECT id, session, idempotency_key, input_digest, input, input_sequence, retry_of, status, attempt, idle_resumes, waiting_on, result, error,
         created_at, started_at, completed_at FROM turns WHERE session = ? ORDER BY input_sequence`,
      )
      .all(no),
    messages: db
      .prepare(
        'SELECT session, sequence, id, turn_id, role, phase, text, at, interrupted, unreadable, superseded_by, heard FROM messages WHERE session = ?',
      )
      .all(no),
    found: db
      .prepare("SELECT m.sequence FROM messages_fts f JOIN messages m ON m.no = f.rowid WHERE messages_fts MATCH 'tokyo' ORDER BY 1")
      .all(),
    titles: db.prepare("SELECT rowid FROM titles_fts WHERE titles_fts MATCH 'japan'").all(),
  };
}

function turnEvents(h: LogHarness, id: SessionId, events: (turnId: TurnId) => NewEvent[], retryOf?: TurnId): TurnId {
  const { turnId, lease } = h.turn(id, 'Is it Tokyo?', retryOf);
  h.start(id, turnId, lease);
  h.clock.advance(1_500);
  h.log.append(id, events(turnId), { lease });
  return turnId;
}

describe('projections', () => {
  it('EV-01: rebuilt from the log alone they are the same, in every state a turn can have', async () => {
    verifies('EV-01');
    await using h = await createLogHarness();
    const id = h.session();
    const usage = {
      model: 'm',
      promptTokens: 3,
      reusedTokens: 1,
      outputTokens: 2,
      firstTokenMs: 5,
      tokensPerSecond: 7.5,
      totalMs: 9,
      where: 'here',
    } as const;
    const first = turnEvents(h, id, (turnId) => [
      reasoned(turnId),
      { type: 'reason.completed', turnId, data: { iteration: 1, model: 'm', context_tokens: 12 } },
      reply(turnId, 'Tokyo.'),
      { type: 'turn.completed', data: { turn_id: turnId, stop_reason: 'end', usage } },
    ]);
    turnEvents(h, id, (turnId) => [reply(turnId, 'Tokyo again.'), completed(turnId)], first);
    const spoken = turnEvents(h, id, (turnId) => [reply(turnId, 'Tokyo, as it was said.'), completed(turnId)]);
    const answered = h.turns.reply(spoken);
    if (answered === null) throw new Error('no answer');
    h.log.append(id, [{ type: 'output.message.heard', turnId: spoken, data: { message_id: answered.id, heard_characters: 5 } }]);
    turnEvents(h, id, (turnId) => [
      { type: 'turn.cancelling', data: { turn_id: turnId, by: 'owner' } },
      { ...reply(turnId, 'To'), data: { ...(reply(turnId, 'To').data as object), interrupted: true } } as NewEvent,
      { type: 'turn.cancelled', data: { turn_id: turnId, stop_reason: 'cancelled', by: 'owner', reason: 'asked' } },
    ]);
    turnEvents(h, id, (turnId) => [
      { type: 'turn.failed', data: { turn_id: turnId, error: 'x', error_code: 'MODEL_STALLED', details: { cause: 'ENGINE_TIMEOUT' } } },
    ]);
    const said = 'msg_00000000000070008000000000000001';
    turnEvents(h, id, (turnId) => [
      {
        type: 'context.trimmed',
        turnId,
        data: { reason: 'context_size', messages_left_out: 2, tokens_before: 9, tokens_after: 4, from_sequence: 8, context_size: 4096 },
      },
      {
        type: 'output.message.completed',
        turnId,
        data: { message: { id: said, role: 'assistant', content: [{ type: 'text', text: 'tokyo' }] }, phase: 'final' },
      } as NewEvent,
      { type: 'turn.interrupted', data: { turn_id: turnId } },
      { type: 'turn.resumed', data: { turn_id: turnId, rerun: [], not_rerun: [] } },
      { type: 'output.message.replaced', turnId, data: { message_id: said, reason: 'resumed' } } as NewEvent,
      { type: 'turn.interrupted', data: { turn_id: turnId } },
    ]);
    h.log.append(id, [{ type: 'session.updated', data: { by: 'owner', changed: { title: { from: null, to: 'About Japan' } } } }]);
    h.log.append(id, [{ type: 'session.updated', data: { changed: { trashedAt: { from: null, to: '2026-01-03T00:00:00.000Z' } } } }]);

    const before = projected(h, id);
    expect(before.found).toHaveLength(7);
    expect(before.messages).toContainEqual(expect.objectContaining({ id: answered.id, heard: 5 }));
    expect(before.titles).toHaveLength(1);
    expect(h.log.rebuildProjections(id)).toEqual([]);
    expect(projected(h, id)).toEqual(before);
  });

  it('EV-07: output.message.replaced takes the text out of transcript and search, and only of its own turn', async () => {
    verifies('EV-07');
    await using h = await createLogHarness();
    const id = h.session();
    const { turnId, lease } = h.turn(id, 'Which city?');
    h.start(id, turnId, lease);
    const [said] = h.log.append(id, [reply(turnId, 'Kyoto')], { lease });
    const messageId = said?.context.message_id;
    if (messageId === undefined) throw new Error('no message');
    h.log.append(
      id,
      [{ type: 'output.message.replaced', turnId, data: { message_id: messageId, reason: 'stalled' } }, reply(turnId, 'Tokyo')],
      { lease },
    );
    expect(h.turns.messagesBefore(h.no(id), 100, 10).map((row) => row.text)).toEqual(['Tokyo', 'Which city?']);
    expect(h.store.db.prepare("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'kyoto'").pluck().get()).toBe(0);
  });

  it('ST-02: an event and its projection commit together or not at all', async () => {
    verifies('ST-02');
    await using h = await createLogHarness();
    const id = h.session();
    h.store.db.exec("CREATE TRIGGER planted BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'projection fails'); END");
    expect(() => h.turn(id)).toThrow(/projection fails/);
    expect(h.log.page(h.no(id), id, 0, 100, 10)).toHaveLength(1);
    expect(h.turns.open(h.no(id))).toBeUndefined();
  });

  it('folds a replaced exchange away: kept in the transcript, not found by search', async () => {
    await using h = await createLogHarness();
    const id = h.session();
    const old = turnEvents(h, id, (turnId) => [reply(turnId, 'Osaka'), completed(turnId)]);
    const retry = turnEvents(h, id, (turnId) => [reply(turnId, 'Tokyo'), completed(turnId)], old);
    const rows = h.turns.messagesBefore(h.no(id), 100, 10);
    expect(rows.map((row) => row.superseded_by)).toEqual([null, null, retry, retry]);
    expect(h.store.db.prepare("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'osaka'").pluck().get()).toBe(0);
    expect(h.turns.historyBefore(h.no(id), 100, 0, 10).map((row) => row.text)).toEqual(['Tokyo', 'Is it Tokyo?']);
  });
});
