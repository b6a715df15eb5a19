import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/runtime/store/eventLog.ts';
import type { DurableEvent } from '../../../src/shared/domain/events.ts';
import { newId } from '../../../src/shared/domain/ids.ts';
import { limits } from '../../../src/shared/domain/limits.ts';
import { Timestamp } from '../../../src/shared/domain/time.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { completed, createLogHarness, input, reasoned, reply } from './helpers.ts';

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
  return 'none';
};
const reasonOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isAppError(error) ? String(error.data.reason) : String(error);
  }
  return 'none';
};
/** As a driver or a newer build could hand it over: types cannot stop it. */
const foreign = (event: object): NewEvent => event as NewEvent;

describe('append', () => {
  it('EV-02, EV-03: gives out ids and gapless sequences per session, and a read sees them at once', async () => {
    verifies('EV-02', 'EV-03', 'GE-01', 'GE-02');
    await using h = await createLogHarness();
    const [a, b] = [h.session(), h.session()];
    const { turnId, lease } = h.turn(a);
    h.turn(b);
    // A wall clock that jumps back must not disturb the order.
    h.clock.jump(-3_600_000);
    h.start(a, turnId, lease);
    const appended = h.log.append(a, [reasoned(turnId), reply(turnId, 'Tokyo.'), completed(turnId)], { lease });
    const read = h.log.page(h.no(a), a, 0, 100, 100);
    expect(read.map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(read.slice(3)).toEqual(appended);
    expect(new Set(read.map((event) => event.id)).size).toBe(6);
    for (const event of read) {
      expect(event.id).toMatch(/^event_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
      expect(Timestamp.parse(event.ts)).toBe(event.ts);
    }
    expect(h.log.page(h.no(b), b, 0, 100, 100).map((event) => event.sequence)).toEqual([1, 2]);
  });

  it('EV-03: a refused batch leaves no gap and no trace', async () => {
    verifies('EV-03');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    expect(codeOf(() => h.log.append(a, [reasoned(turnId), foreign({ type: 'nonsense', data: {} })], { lease }))).toBe('INVALID_APPEND');
    expect(h.log.append(a, [reasoned(turnId)], { lease })[0]?.sequence).toBe(4);
  });

  it('EV-03: the log cannot be edited or cut, not even by SQL; erasing the whole session can', async () => {
    verifies('EV-03');
    await using h = await createLogHarness();
    const a = h.session();
    h.turn(a);
    expect(() => h.store.db.exec("UPDATE events SET data = '{}'")).toThrow(/append only/);
    expect(() => h.store.db.exec('DELETE FROM events')).toThrow(/append only/);
    h.store.write(() => h.sessions.erase(a));
    expect(h.store.db.prepare('SELECT count(*) FROM events').pluck().get()).toBe(0);
  });

  it('EV-04: refuses what is live only, and tells watchers after the commit alone', async () => {
    verifies('EV-04');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    const delta = foreign({ type: 'output.message.delta', turnId, data: { message_id: newId('msg', 0), delta: 'x', accumulated: 1 } });
    expect(reasonOf(() => h.log.append(a, [delta], { lease }))).toContain('live only');
    const heard: DurableEvent[] = [];
    h.log.onCommitted((_, events) => heard.push(...events));
    expect(() =>
      h.store.write(() => {
        h.log.append(a, [reasoned(turnId)], { lease });
        throw new Error('rolled back');
      }),
    ).toThrow('rolled back');
    expect(heard).toEqual([]);
    h.store.write(() => {
      h.log.append(a, [reasoned(turnId)], { lease });
      expect(heard).toEqual([]);
    });
    expect(heard.map((event) => event.sequence)).toEqual([4]);
  });

  it('EV-05: a turn starts once after its input, and exactly one end closes it', async () => {
    verifies('EV-05');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    expect(codeOf(() => h.log.append(a, [input(turnId, 'again')]))).toBe('INVALID_APPEND');
    h.store.write(() => {
      const row = h.turns.get(turnId);
      if (row !== undefined) h.turns.takeLease(row, lease, row.created_at);
    });
    const started: NewEvent = { type: 'turn.started', data: { turn_id: turnId, attempt: 1, idempotency_key: turnId } };
    expect(reasonOf(() => h.log.append(a, [reasoned(turnId)], { lease }))).toContain('not started');
    expect(reasonOf(() => h.log.append(a, [completed(turnId)], { lease }))).toContain('not started');
    expect(reasonOf(() => h.log.append(a, [started, started], { lease }))).toContain('starts once');
    h.log.append(a, [started], { lease });
    expect(reasonOf(() => h.log.append(a, [completed(turnId), completed(turnId)], { lease }))).toContain('has ended');
    h.log.append(a, [completed(turnId)], { lease });
    for (const late of [reasoned(turnId), reply(turnId, 'late'), completed(turnId), started])
      expect(codeOf(() => h.log.append(a, [late], { lease }))).toBe('INVALID_APPEND');
  });

  it('EV-05: after the end only what was heard may follow, without a lease, once, and of a message of its turn', async () => {
    verifies('EV-05');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    const [said] = h.log.append(a, [reply(turnId, 'Tokyo.')], { lease });
    const messageId = said?.context.message_id;
    if (messageId === undefined) throw new Error('no message');
    const heard = (id = messageId, units = 3): NewEvent => ({
      type: 'output.message.heard',
      turnId,
      data: { message_id: id, heard_characters: units },
    });
    expect(reasonOf(() => h.log.append(a, [heard()]))).toContain('after the end');
    expect(reasonOf(() => h.log.append(a, [heard(), completed(turnId)], { lease }))).toContain('after the end');
    h.log.append(a, [completed(turnId)], { lease });
    expect(reasonOf(() => h.log.append(a, [heard(newId('msg', 1))]))).toContain('of its turn');
    expect(reasonOf(() => h.log.append(a, [heard()], { by: 'driver' }))).toContain('reserved');
    expect(codeOf(() => h.log.append(a, [heard(messageId, -1)]))).toBe('INVALID_APPEND');
    expect(codeOf(() => h.log.append(a, [heard()]))).toBe('none');
    expect(reasonOf(() => h.log.append(a, [heard()]))).toContain('heard once');
    expect(h.turns.heard(h.no(a), messageId)).toBe(3);
  });

  it('EV-05: types know whether they belong to a turn; session.started opens the log once', async () => {
    verifies('EV-05');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    expect(
      reasonOf(() => h.log.append(a, [foreign({ type: 'reason.started', data: { iteration: 1, model: 'm', context_tokens: 1 } })])),
    ).toContain('belongs to a turn');
    expect(reasonOf(() => h.log.append(a, [foreign({ type: 'session.updated', turnId, data: { changed: {} } })], { lease }))).toContain(
      'no turn',
    );
    const again = { type: 'session.started', data: { agent_id: 'a', revision_id: 'r', revision: 1, origin: 'app' } } as const;
    expect(reasonOf(() => h.log.append(a, [again]))).toContain('once');
    expect(reasonOf(() => h.log.append(h.session(), [input(turnId, 'other session')]))).toContain('another session');
  });

  it('DR-07: a driver may not write what projections trust', async () => {
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    expect(reasonOf(() => h.log.append(a, [completed(turnId)], { lease, by: 'driver' }))).toContain('reserved');
    expect(codeOf(() => h.log.append(a, [reply(turnId, 'Tokyo.')], { lease, by: 'driver' }))).toBe('none');
  });

  it('GE-06: data that does not fit its type is refused before anything is written', async () => {
    verifies('GE-06');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    const wrong = foreign({ type: 'reason.started', turnId, data: { iteration: 'one', model: 'm', context_tokens: 1 } });
    expect(reasonOf(() => h.log.append(a, [wrong], { lease }))).toContain('iteration');
    expect(h.log.page(h.no(a), a, 0, 100, 100)).toHaveLength(3);
  });

  it('LE-02: every append of a turn needs its lease; a stale token or generation is STALE_WRITER', async () => {
    verifies('LE-02', 'LE-01');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    expect(reasonOf(() => h.log.append(a, [reasoned(turnId)]))).toContain('lease');
    expect(codeOf(() => h.log.append(a, [reasoned(turnId)], { lease: { ...lease, token: 'other' } }))).toBe('STALE_WRITER');
    expect(codeOf(() => h.log.append(a, [reasoned(turnId)], { lease: { ...lease, generation: lease.generation - 1 } }))).toBe(
      'STALE_WRITER',
    );
    // Another runtime took over the folder: the generation of the old lease is void at once, though its row still stands.
    h.store.db.exec('UPDATE runtime SET generation = generation + 1');
    expect(codeOf(() => h.log.append(a, [reasoned(turnId)], { lease }))).toBe('STALE_WRITER');
    expect(h.log.page(h.no(a), a, 0, 100, 100)).toHaveLength(3);
  });

  it('EV-16: an event above 1 MiB is EVENT_TOO_LARGE; an input is measured by its text, whatever its escapes cost', async () => {
    verifies('EV-16');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a, '\u0001'.repeat(limits.maxInputBytes));
    h.start(a, turnId, lease);
    expect(codeOf(() => h.log.append(a, [reply(turnId, 'x'.repeat(limits.maxEventBytes))], { lease }))).toBe('EVENT_TOO_LARGE');
    expect(codeOf(() => h.log.append(a, [reply(turnId, 'ä'.repeat(limits.maxEventBytes / 2))], { lease }))).toBe('EVENT_TOO_LARGE');
    expect(codeOf(() => h.log.append(a, [reply(turnId, 'x'.repeat(limits.maxEventBytes - 500))], { lease }))).toBe('none');
  });
});

describe('reading', () => {
  it('EV-11: unknown types and fields of a newer build are read as they are and skipped by projections', async () => {
    verifies('EV-11');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    h.log.append(a, [completed(turnId)], { lease });
    const add = h.store.db.prepare('INSERT INTO events (session, sequence, id, type, ts, data) VALUES (?, ?, ?, ?, ?, ?)');
    add.run(h.no(a), 5, newId('event', 0), 'hologram.shown', '2027-01-01T00:00:00.000Z', '{"depth":3}');
    add.run(h.no(a), 6, newId('event', 0), 'session.updated', '2027-01-01T00:00:00.000Z', '{"changed":{},"mood":"blue"}');
    const read = h.log.page(h.no(a), a, 4, 100, 100);
    expect(read[0]).toMatchObject({ type: 'hologram.shown', data: { depth: 3 } });
    expect(read[1]).toMatchObject({ data: { mood: 'blue' } });
    expect(h.log.rebuildProjections(a)).toEqual([]);
  });

  it('EV-12: a damaged row is shown as unreadable, the ones around it are read', async () => {
    verifies('EV-12');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    h.log.append(a, [reply(turnId, 'Tokyo.'), completed(turnId)], { lease });
    h.store.db.exec('DROP TRIGGER events_fixed');
    h.store.db.prepare('UPDATE events SET data = ? WHERE session = ? AND sequence = 4').run('{"message":', h.no(a));
    const read = h.log.page(h.no(a), a, 0, 100, 100);
    expect(read.map((event) => event.unreadable ?? false)).toEqual([false, false, false, true, false]);
    expect(read[3]).toMatchObject({ type: 'output.message.completed', data: {}, context: { turn_id: turnId } });
    expect(h.log.rebuildProjections(a)).toEqual([4]);
    const rows = h.turns.messagesBefore(h.no(a), 100, 10);
    expect(rows.map((row) => [row.role, row.text, row.unreadable])).toEqual([
      ['assistant', '', 1],
      ['user', 'What is the capital of Japan?', 0],
    ]);
    expect(h.turns.get(turnId)?.status).toBe('completed');
  });

  it('EV-12: every event of a turn may be damaged and its session still opens', async () => {
    verifies('EV-12');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    h.log.append(a, [reply(turnId, 'Tokyo.'), completed(turnId)], { lease });
    h.store.db.exec('DROP TRIGGER events_fixed');
    h.store.db.prepare("UPDATE events SET data = 'null' WHERE session = ?").run(h.no(a));
    expect(h.log.rebuildProjections(a)).toEqual([1, 2, 3, 4, 5]);
    expect(h.turns.get(turnId)?.status).toBe('completed');
    expect(h.sessions.get(a)?.last_turn_status).toBe('completed');
  });

  it('GE-07: a page ends by bytes too, so 500 large events never come at once', async () => {
    verifies('GE-07');
    await using h = await createLogHarness();
    const a = h.session();
    const { turnId, lease } = h.turn(a);
    h.start(a, turnId, lease);
    const large = reply(turnId, 'x'.repeat(900_000));
    h.log.append(a, Array(8).fill(large), { lease });
    const page = h.log.page(h.no(a), a, 3, 100, 500);
    expect(page.length).toBeLessThan(8);
    expect(h.log.page(h.no(a), a, page.at(-1)?.sequence ?? 0, 100, 500)[0]?.sequence).toBe((page.at(-1)?.sequence ?? 0) + 1);
  });
});
