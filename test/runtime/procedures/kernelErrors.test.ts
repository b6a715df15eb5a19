import { createRouterClient } from '@orpc/server';
import { describe, expect, it } from 'vitest';
import { eventsProcedures } from '../../../src/runtime/procedures/events.ts';
import { sessionsProcedures } from '../../../src/runtime/procedures/sessions.ts';
import { turnsProcedures } from '../../../src/runtime/procedures/turns.ts';
import { contract } from '../../../src/shared/contract/index.ts';
import { newId, SessionId, TurnId } from '../../../src/shared/domain/ids.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { codes } from '../../../src/shared/errors/codes.ts';
import { gate } from '../../helpers/scriptedLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness } from '../agent/harness.ts';

const nobody = SessionId.parse('nobody');
const noTurn = TurnId.parse(newId('turn', 0));

describe('procedures of the kernel', () => {
  it('ST-01: every call names its typed errors, and those that happen are among them with fitting data', async () => {
    verifies('ST-01');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }] });
    const client = createRouterClient({
      sessions: sessionsProcedures(h.agent),
      turns: turnsProcedures(h.agent),
      events: eventsProcedures(h.agent),
    });
    const { session } = await client.sessions.start({ title: 'Named' });
    const sessionId = session.id;
    const { turnId } = await client.turns.send({ sessionId, content: 'x', idempotencyKey: 'k' });
    const failing: readonly [domain: 'sessions' | 'turns' | 'events', call: string, code: keyof typeof codes, () => Promise<unknown>][] = [
      ['sessions', 'start', 'SESSION_CONFLICT', () => client.sessions.start({ sessionId, title: 'Other' })],
      ['sessions', 'get', 'SESSION_NOT_FOUND', () => client.sessions.get({ sessionId: nobody })],
      ['sessions', 'list', 'CURSOR_MALFORMED', () => client.sessions.list({ pageToken: '!' })],
      ['sessions', 'setTitle', 'SESSION_NOT_FOUND', () => client.sessions.setTitle({ sessionId: nobody, title: 't' })],
      ['sessions', 'trash', 'SESSION_NOT_FOUND', () => client.sessions.trash({ sessionId: nobody })],
      ['sessions', 'restore', 'SESSION_NOT_FOUND', () => client.sessions.restore({ sessionId: nobody })],
      ['sessions', 'erase', 'INVALID_INPUT', () => client.sessions.erase({ sessionId, confirm: true })],
      ['sessions', 'setDraft', 'SESSION_NOT_FOUND', () => client.sessions.setDraft({ sessionId: nobody, text: 't' })],
      ['turns', 'send', 'TURN_ACTIVE', () => client.turns.send({ sessionId, content: 'y' })],
      ['turns', 'send', 'IDEMPOTENCY_KEY_REUSED', () => client.turns.send({ sessionId, content: 'y', idempotencyKey: 'k' })],
      ['turns', 'send', 'INVALID_INPUT', () => client.turns.send({ sessionId, content: ' ' })],
      ['turns', 'send', 'EVENT_TOO_LARGE', () => client.turns.send({ sessionId, content: 'x'.repeat(1_048_577) })],
      ['turns', 'retry', 'TURN_NOT_FOUND', () => client.turns.retry({ sessionId, turnId: noTurn })],
      ['turns', 'cancel', 'TURN_MISMATCH', () => client.turns.cancel({ sessionId, turnId: noTurn })],
      ['turns', 'get', 'TURN_NOT_FOUND', () => client.turns.get({ sessionId, turnId: noTurn })],
      ['turns', 'decide', 'TURN_MISMATCH', () => client.turns.decide({ sessionId, turnId, choice: 'stop' })],
      ['turns', 'history', 'CURSOR_MALFORMED', () => client.turns.history({ sessionId, cursor: '!' })],
      ['events', 'list', 'CURSOR_MALFORMED', () => client.events.list({ sessionId, cursor: '!' })],
      ['events', 'watch', 'SESSION_NOT_FOUND', () => client.events.watch({ sessionId: nobody })],
    ];
    for (const [domain, call, code, work] of failing) {
      const procedures: Record<string, { '~orpc': { errorMap: object } }> = contract[domain];
      const error = await work().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect([domain, call, isAppError(error) ? error.code : error]).toEqual([domain, call, code]);
      expect(Object.keys(procedures[call]?.['~orpc'].errorMap ?? {})).toContain(code);
      if (isAppError(error)) expect(codes[code].data.safeParse(error.data).success).toBe(true);
    }
    open.open();
    await h.settled(sessionId, turnId);
  });

  it('ST-01: expected outcomes are values, not errors', async () => {
    verifies('ST-01');
    await using h = await createKernelHarness();
    const client = createRouterClient({ sessions: sessionsProcedures(h.agent), turns: turnsProcedures(h.agent) });
    const id = SessionId.parse('mine');
    await client.sessions.start({ sessionId: id, title: 'Named' });
    expect((await client.sessions.start({ sessionId: id, title: 'Named' })).existing).toBe(true);
    const { turnId } = await client.turns.send({ sessionId: id, content: 'x', idempotencyKey: 'k' });
    expect(await client.turns.send({ sessionId: id, content: 'x', idempotencyKey: 'k' })).toMatchObject({ duplicate: true, turnId });
    await client.turns.cancel({ sessionId: id, turnId });
    await h.settled(id, turnId);
    expect(await client.turns.cancel({ sessionId: id, turnId })).toEqual({ turnId, status: 'cancelled' });
    expect(await client.sessions.search({ query: 'nothing of the kind' })).toEqual({ hits: [], more: false });
    expect(await client.sessions.getDraft({ sessionId: null })).toEqual({ text: '' });
    expect(await client.turns.history({ sessionId: id })).toMatchObject({ olderCursor: null, messages: [{ role: 'user' }] });
  });
});
