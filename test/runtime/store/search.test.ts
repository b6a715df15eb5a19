import { describe, expect, it } from 'vitest';
import { matchOf, searchIn } from '../../../src/runtime/store/search.ts';
import { loadSqlite } from '../../../src/runtime/store/sqlite.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { completed, createLogHarness, type LogHarness, reply } from './helpers.ts';

function exchange(h: LogHarness, question: string, answer: string, id = h.session()) {
  const { turnId, lease } = h.turn(id, question);
  h.start(id, turnId, lease);
  h.log.append(id, [reply(turnId, answer), completed(turnId)], { lease });
  return { id, turnId };
}

const code = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (isAppError(error) ? error.code : String(error)),
  );

describe('search', () => {
  it('finds words in titles and messages, each typed text being a harmless query', async () => {
    await using h = await createLogHarness();
    const { id } = exchange(h, 'Where is the café of Zoë?', 'The café is in Oslo, on the hill.');
    h.log.append(id, [{ type: 'session.updated', data: { changed: { title: { from: null, to: 'Oslo café' } } } }]);
    const find = async (words: string) => (await h.store.reader.search(words, 10)).map((row) => [row.where, row.text]);
    expect(await find('cafe osl')).toEqual([
      ['title', '\uFDD0Oslo\uFDD1 \uFDD0café\uFDD1'],
      ['message', 'The \uFDD0café\uFDD1 is in \uFDD0Oslo\uFDD1, on the hill.'],
    ]);
    expect(await find('ZOE')).toHaveLength(1);
    for (const odd of ['"', "'; DROP TABLE events; --", 'NEAR(', 'a OR', '*', 'title:x', '((', '\u0000', '-', 'AND NOT'])
      expect(await code(h.store.reader.search(odd, 10))).toBe('none');
    expect(await find('paris')).toEqual([]);
  });

  it('a read begun after a commit sees it', async () => {
    await using h = await createLogHarness();
    for (let n = 0; n < 5; n++) {
      exchange(h, `question number${n}`, 'answer');
      expect(await h.store.reader.search(`number${n}`, 10)).toHaveLength(1);
    }
  });

  it('ST-04: ends after 10 s with SEARCH_TIMEOUT, and the next search works', async () => {
    await using h = await createLogHarness();
    exchange(h, 'a question', 'an answer');
    const late = h.store.reader.search('question', 10);
    // The reply of the worker needs a turn of the loop, which it does not get before the clock has moved.
    h.clock.advance(10_000);
    expect(await code(late)).toBe('SEARCH_TIMEOUT');
    expect(await h.store.reader.search('question', 10)).toHaveLength(1);
  });

  it('ST-04: one that its caller replaced is dropped, running or waiting, and a flood drops its oldest', async () => {
    await using h = await createLogHarness();
    exchange(h, 'a question', 'an answer');
    const controllers = Array.from({ length: 3 }, () => new AbortController());
    const dropped = controllers.map(({ signal }) => h.store.reader.search('question', 10, signal));
    const kept = h.store.reader.search('answer', 10);
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(dropped.map(code))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
    expect(await kept).toHaveLength(1);
    const flood = Array.from({ length: 8 }, () => code(h.store.reader.search('question', 10)));
    expect(await Promise.all(flood)).toEqual(['none', 'CANCELLED', 'CANCELLED', 'CANCELLED', 'none', 'none', 'none', 'none']);
    expect(await code(h.store.reader.search('question', 10, AbortSignal.abort()))).toBe('CANCELLED');
  });

  it('ST-04: a dropped search stops inside the database, at its next row', async () => {
    await using h = await createLogHarness();
    const id = h.session();
    const { turnId, lease } = h.turn(id, 'word');
    h.start(id, turnId, lease);
    h.log.append(
      id,
      Array.from({ length: 200 }, () => reply(turnId, 'word')),
      { lease },
    );
    const sqlite = await loadSqlite();
    const db = new sqlite(h.paths.database, { readonly: true });
    const stop = new SharedArrayBuffer(4);
    expect(searchIn(db, { words: 'word', limit: 10, stop })).toHaveLength(11);
    Atomics.store(new Int32Array(stop), 0, 1);
    expect(() => searchIn(db, { words: 'word', limit: 10, stop })).toThrow('CANCELLED');
    db.close();
  });

  it('the reader may not write, and asks nothing of a closed one', async () => {
    await using h = await createLogHarness();
    exchange(h, 'a question', 'an answer');
    const sqlite = await loadSqlite();
    const db = new sqlite(h.paths.database, { readonly: true });
    expect(() => db.exec('DELETE FROM drafts')).toThrow(/readonly/);
    db.close();
    expect(await h.store.reader.search('question', 10)).toHaveLength(1);
    await h.store.reader[Symbol.asyncDispose]();
    expect(await code(h.store.reader.search('question', 10))).toBe('SHUTTING_DOWN');
  });

  it('makes a query of whatever was typed', () => {
    expect(matchOf('hello wor')).toBe('"hello" AND "wor"*');
    expect(matchOf('say "hi"')).toBe('"say" AND """hi"""*');
    expect(matchOf(' - * ')).toBeNull();
  });
});
