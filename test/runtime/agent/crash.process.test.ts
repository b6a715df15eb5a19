import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type SessionId, SessionId as Sessions } from '../../../src/shared/domain/ids.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, tempPaths } from './harness.ts';

const script = fileURLToPath(new URL('crashScript.ts', import.meta.url));
const sessionId: SessionId = Sessions.parse('chat');

type Told = { accepted?: number; shown?: number; type?: string; data?: unknown; finished?: boolean };

/** Runs the conversation until the n-th crash point. @returns what a window had seen by then. */
async function converse(folder: string, killAt: number): Promise<{ told: Told[]; signal: string | null; code: number | null }> {
  const child = fork(script, [folder], { execArgv: [], env: { ...process.env, SOTTO_KILL_AT: String(killAt) } });
  const told: Told[] = [];
  child.on('message', (message: Told) => told.push(message));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { told, code, signal };
}

it('RE-02, RE-09: killed at each numbered point in turn, nothing that was accepted or shown is lost', { timeout: 180_000 }, async () => {
  verifies('TU-04', 'RE-02', 'RE-09');
  let points = 0;
  for (let killAt = 1; ; killAt++) {
    const { data: folder } = tempPaths();
    const { told, code, signal } = await converse(folder, killAt);
    if (told.some((one) => one.finished)) {
      expect(code).toBe(0);
      break;
    }
    expect([killAt, signal]).toEqual([killAt, 'SIGKILL']);
    points += 1;
    await using h = await createKernelHarness({ folder, recover: false, scripts: [{ say: 'After the crash.' }] });
    expect(h.store.db.pragma('integrity_check', { simple: true })).toBe('ok');
    const before = h.store.db.prepare('SELECT count(*) FROM sessions').pluck().get() === 0 ? [] : h.log(sessionId);
    for (const { shown, type, data } of told)
      if (shown !== undefined) expect(before[shown - 1]).toMatchObject({ sequence: shown, type, data });
    h.agent.recover();
    h.agent.sessions.start({ origin: 'app', sessionId, title: 'Named' });
    // What the caller does not know to be accepted it sends again, with its key: never lost, never twice.
    for (let n = 0; n < 3; n++) {
      const { turnId, duplicate } = h.agent.turns.send({ sessionId, content: `message ${n}`, idempotencyKey: `key ${n}` });
      if (told.some((one) => one.accepted === n)) expect(duplicate).toBe(true);
      await h.settled(sessionId, turnId);
      expect(h.agent.turns.get(sessionId, turnId).completedAt).not.toBeNull();
    }
    const log = h.log(sessionId);
    expect(log.map((event) => event.sequence)).toEqual(log.map((_, index) => index + 1));
    expect(
      log.filter((event) => event.type === 'input.message').map((event) => JSON.stringify(event.data).includes('message')),
    ).toHaveLength(3);
    expect(log.filter((event) => event.type === 'turn.started')).toHaveLength(3);
    expect(log.filter((event) => /^turn\.(completed|failed|cancelled)$/.test(event.type))).toHaveLength(3);
    // A cancel keeps its reason, what was heard is known once, and an answer nobody told of is whole.
    for (const event of log) if (event.type === 'turn.cancelled') expect(event.data.reason).toBe('barge-in');
    const heard = log.filter((event) => event.type === 'output.message.heard').map((event) => event.context.message_id);
    expect(new Set(heard).size).toBe(heard.length);
    const { messages } = h.agent.turns.history({ sessionId, limit: 9 });
    for (const message of messages) expect(message.heard).toBe(heard.includes(message.id) ? 6 : null);
    for (const message of messages) if (message.role === 'assistant') expect(message.text).not.toBe('');
    expect(h.store.db.prepare('SELECT count(*) FROM leases').pluck().get()).toBe(0);
  }
  expect(points).toBeGreaterThan(10);
});
