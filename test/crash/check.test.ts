import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChance } from './chance.ts';
import { check } from './conversation.ts';

// The bug: a crash test that looks at nothing and passes.
describe('the crash test', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sotto-check-'));
    const db = new Database(join(folder, 'sotto.db'));
    db.exec(`CREATE TABLE messages (sequence INTEGER, text TEXT);
      CREATE TABLE turns (id TEXT, status TEXT);
      CREATE TABLE events (turn_id TEXT, type TEXT);
      INSERT INTO turns VALUES ('over', 'completed'), ('open', 'running');
      INSERT INTO events VALUES ('over', 'turn.started'), ('over', 'turn.completed'), ('open', 'turn.started')`);
    db.prepare('INSERT INTO messages VALUES (?, ?)').run(2, 'A **bold** word');
    db.close();
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('finds a message that was shown and is not stored', () => {
    expect(() => check(folder, new Map([[2, 'You 10:15\nA bold word']]))).not.toThrow();
    expect(() => check(folder, new Map([[5, 'gone']]))).toThrow('message 5 was shown and is lost');
  });

  it('finds a message whose words are others', () => {
    expect(() => check(folder, new Map([[2, 'A bold']]))).toThrow('is stored as');
  });

  it('finds a turn that ended twice, ended without an end, or is open after its end', () => {
    const odd = (sql: string, undo: string) => {
      const db = new Database(join(folder, 'sotto.db'));
      db.exec(sql);
      expect(() => check(folder, new Map()), sql).toThrow('without exactly one end');
      db.exec(undo);
      db.close();
    };
    odd("INSERT INTO events VALUES ('over', 'turn.failed')", "DELETE FROM events WHERE type = 'turn.failed'");
    odd("INSERT INTO turns VALUES ('silent', 'cancelled')", "DELETE FROM turns WHERE id = 'silent'");
    odd("INSERT INTO events VALUES ('open', 'turn.completed')", "DELETE FROM events WHERE turn_id = 'open'");
    check(folder, new Map());
  });

  it('plays the same game for the same seed', () => {
    const [one, two, other] = [createChance(7), createChance(7), createChance(8)];
    const draws = Array.from({ length: 5 }, () => one());
    expect(Array.from({ length: 5 }, () => two())).toEqual(draws);
    expect(Array.from({ length: 5 }, () => other())).not.toEqual(draws);
  });
});
