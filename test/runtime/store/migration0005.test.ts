import { expect, it } from 'vitest';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { createTurnRows } from '../../../src/runtime/store/turnRows.ts';
import { TurnId } from '../../../src/shared/domain/ids.ts';
import { tempPaths } from '../agent/harness.ts';
import { open } from './helpers.ts';

const turnId = TurnId.parse(`turn_${'0'.repeat(32)}`);

it('0005-heard: answers of the version before are whole, nobody having said what was heard', async () => {
  const paths = tempPaths();
  const old = await open(paths, { migrations: migrations.slice(0, 4) });
  old.db.exec(`
    INSERT INTO agents (id, newest_revision, created_at, updated_at) VALUES ('a', 1, 't', 't');
    INSERT INTO agent_revisions (id, agent_id, revision, definition, definition_hash, created_at, author) VALUES ('r', 'a', 1, '{}', 'h', 't', 'system');
    INSERT INTO sessions (no, id, agent_id, revision_id, revision, origin, metadata, start_digest, created_at, updated_at)
      VALUES (1, 'chat', 'a', 'r', 1, 'app', '{}', '', 't', 't');
    INSERT INTO turns (id, session, idempotency_key, input_digest, input, input_sequence, status, created_at)
      VALUES ('${turnId}', 1, 'k', '', '{}', 1, 'queued', 't');
    INSERT INTO events (session, sequence, id, type, ts, turn_id, data) VALUES (1, 2, 'e', 'output.message.completed', 't', '${turnId}', '{}');
    INSERT INTO messages (session, sequence, id, turn_id, role, text, at) VALUES (1, 2, 'm', '${turnId}', 'assistant', 'Tokyo.', 't');
    INSERT INTO partials (turn_id, session, message_id, text, at) VALUES ('${turnId}', 1, 'm', 'Tok', 't');
  `);
  await old[Symbol.asyncDispose]();
  const store = await open(paths);
  const turns = createTurnRows(store.db);
  expect(turns.messagesBefore(1, 9, 9)).toMatchObject([{ id: 'm', text: 'Tokyo.', heard: null }]);
  expect(turns.historyBefore(1, 9, 0, 9)).toMatchObject([{ text: 'Tokyo.', heard: null }]);
  expect(turns.partial(turnId)).toMatchObject({ text: 'Tok', heard: null });
  expect(() => store.db.exec('UPDATE messages SET heard = -1')).toThrow(/CHECK/);
  await store[Symbol.asyncDispose]();
});

it('0005-heard: what was heard is written to its message by an index', async () => {
  const store = await open(tempPaths());
  const plan = store.db
    .prepare<[number, string, string], { detail: string }>(
      'EXPLAIN QUERY PLAN UPDATE messages SET heard = 3 WHERE session = ? AND turn_id = ? AND id = ?',
    )
    .all(1, turnId, 'm')
    .map(({ detail }) => detail);
  expect(plan.join()).toMatch(/USING INDEX messages_by_turn/);
  await store[Symbol.asyncDispose]();
});
