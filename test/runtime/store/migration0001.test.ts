import { describe, expect, it } from 'vitest';
import { listSql } from '../../../src/runtime/store/sessionRows.ts';
import { turnSql } from '../../../src/runtime/store/turnRows.ts';
import { newId } from '../../../src/shared/domain/ids.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createLogHarness, type LogHarness, reply } from './helpers.ts';

const states = ['queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled'] as const;
const legal = [
  'queued>running',
  'queued>cancelling',
  'queued>failed',
  'running>completed',
  'running>cancelling',
  'running>failed',
  'cancelling>cancelled',
];
const way: Record<string, readonly string[]> = {
  queued: [],
  running: ['running'],
  cancelling: ['running', 'cancelling'],
  completed: ['running', 'completed'],
  failed: ['failed'],
  cancelled: ['cancelling', 'cancelled'],
};

function plan(h: LogHarness, sql: string): string {
  const rows = h.store.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...(sql.match(/\?/g) ?? []).map(() => 1));
  return rows.map((row) => row.detail).join('; ');
}

describe('0001-agent', () => {
  it('TU-01: the store knows six states and refuses every other way between them', async () => {
    verifies('TU-01');
    await using h = await createLogHarness();
    const set = h.store.db.prepare('UPDATE turns SET status = ? WHERE id = ?');
    const found: string[] = [];
    for (const from of states)
      for (const to of states) {
        if (from === to) continue;
        const { turnId } = h.turn(h.session());
        for (const step of way[from] ?? []) set.run(step, turnId);
        try {
          set.run(to, turnId);
          found.push(`${from}>${to}`);
        } catch (error) {
          expect(String(error)).toContain('no such change');
        }
      }
    expect(found.sort()).toEqual([...legal].sort());
    const { turnId } = h.turn(h.session());
    expect(() => set.run('parked', turnId)).toThrow(/CHECK|no such change/);
    expect(() =>
      h.store.db.exec(
        "INSERT INTO turns (id, session, idempotency_key, input_digest, input, input_sequence, status, created_at) SELECT 'x', no, 'k', '', '{}', 1, 'running', 't' FROM sessions LIMIT 1",
      ),
    ).toThrow(/begins queued/);
  });

  it('TU-03: a second open turn of one session is refused by the index itself', async () => {
    verifies('TU-03');
    await using h = await createLogHarness();
    const a = h.session();
    h.turn(a);
    expect(() => h.turn(a)).toThrow(/UNIQUE/);
    expect(() => h.turn(h.session())).not.toThrow();
  });

  it('TU-05: an idempotency key is unique per session, kept with it', async () => {
    verifies('TU-05');
    await using h = await createLogHarness();
    const [a, b] = [h.session(), h.session()];
    const add = (session: number, key: string) =>
      h.store.db
        .prepare(
          "INSERT INTO turns (id, session, idempotency_key, input_digest, input, input_sequence, status, created_at) VALUES (?, ?, ?, '', '{}', 9, 'queued', 't')",
        )
        .run(newId('turn', 0), session, key);
    add(h.no(a), 'once');
    h.store.db.exec("UPDATE turns SET status = 'failed'");
    expect(() => add(h.no(a), 'once')).toThrow(/UNIQUE/);
    expect(() => add(h.no(b), 'once')).not.toThrow();
  });

  it('AG-02: a revision never changes and never goes', async () => {
    await using h = await createLogHarness();
    h.session();
    expect(() => h.store.db.exec("UPDATE agent_revisions SET definition = '{}'")).toThrow(/never changes/);
    expect(() => h.store.db.exec('DELETE FROM agent_revisions')).toThrow(/is kept/);
  });

  it('SE-07: erasing a session takes events, turns, messages, index entries, drafts, leases and sub-sessions along', async () => {
    verifies('SE-07');
    await using h = await createLogHarness();
    const [a, b] = [h.session('a'), h.session('b')];
    h.store.db.exec("UPDATE sessions SET parent_id = 'a', title = 'Below' WHERE id = 'b'");
    const { turnId, lease } = h.turn(a, 'secret words');
    h.start(a, turnId, lease);
    h.log.append(a, [reply(turnId, 'secret answer')], { lease });
    h.turn(b, 'secret below');
    h.sessions.setDraft('a', 'secret draft', 't');
    h.sessions.setDraft('b', 'secret draft', 't');
    h.store.write(() => h.sessions.erase(a));
    const counts = ['sessions', 'turns', 'events', 'messages', 'leases', 'drafts'].map((table) =>
      h.store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
    );
    expect(counts).toEqual([0, 0, 0, 0, 0, 0]);
    expect(h.store.db.prepare("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'secret'").pluck().get()).toBe(0);
    expect(h.store.db.prepare("SELECT count(*) FROM titles_fts WHERE titles_fts MATCH 'below'").pluck().get()).toBe(0);
    for (const table of ['messages_fts', 'titles_fts']) h.store.db.exec(`INSERT INTO ${table} (${table}) VALUES ('integrity-check')`);
  });

  it('the hot queries use their indexes and sort nothing', async () => {
    await using h = await createLogHarness();
    h.session();
    const hot = {
      events: 'SELECT * FROM events WHERE session = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?',
      live: listSql.live,
      trash: listSql.trash,
      messages: turnSql.messages,
      history: turnSql.history,
      open: turnSql.open,
      allOpen: turnSql.allOpen,
      byKey: turnSql.byKey,
    };
    const plans = Object.fromEntries(Object.entries(hot).map(([name, sql]) => [name, plan(h, sql)]));
    expect(plans.events).toContain('SEARCH events USING PRIMARY KEY (session=? AND sequence>? AND sequence<?)');
    expect(plans.live).toContain('sessions_by_update');
    expect(plans.trash).toContain('sessions_in_trash');
    expect(plans.messages).toMatch(/SEARCH m USING INDEX \S+ \(session=\? AND sequence<\?\); SEARCH e USING PRIMARY KEY/);
    expect(plans.history).toMatch(/SEARCH m USING INDEX \S+ \(session=\?/);
    expect(plans.open).toContain('turns_one_open');
    expect(plans.allOpen).toContain('turns_open');
    expect(plans.byKey).toMatch(/SEARCH t USING INDEX \S+ \(session=\? AND idempotency_key=\?\)/);
    for (const [name, text] of Object.entries(plans)) if (name !== 'allOpen') expect(`${name}: ${text}`).not.toMatch(/TEMP B-TREE|SCAN/);
  });
});
