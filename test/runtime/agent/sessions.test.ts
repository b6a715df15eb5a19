import { describe, expect, it } from 'vitest';
import type { SessionListValue } from '../../../src/shared/contract/sessions.ts';
import { AgentId, newId, RevisionId, SessionId } from '../../../src/shared/domain/ids.ts';
import { limits } from '../../../src/shared/domain/limits.ts';
import { Session } from '../../../src/shared/domain/session.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import type { Snapshot } from '../../../src/shared/util/liveValue.ts';
import { gate } from '../../helpers/scriptedLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, type KernelHarness } from './harness.ts';

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
  return 'none';
};
const start = (h: KernelHarness, more: object = {}) => h.agent.sessions.start({ origin: 'app', ...more });
async function exchange(h: KernelHarness, sessionId: SessionId, content: string) {
  const { turnId } = h.agent.turns.send({ sessionId, content });
  await h.settled(sessionId, turnId);
}
const day = 86_400_000;

describe('sessions', () => {
  it('SE-01, SE-02: holds what the spec lists and is pinned to the newest revision of its agent', async () => {
    verifies('SE-01', 'SE-02');
    await using h = await createKernelHarness();
    const { session, existing } = start(h, { title: 'Trip', metadata: { colour: 'blue' } });
    expect(existing).toBe(false);
    expect(Session.parse(session)).toMatchObject({
      agentId: 'assistant',
      agentRevision: 1,
      status: 'idle',
      title: 'Trip',
      titleBy: 'owner',
      metadata: { colour: 'blue' },
      driverSessionId: null,
      parentSessionId: null,
      origin: 'app',
      archivedAt: null,
      trashedAt: null,
    });
    expect(session).not.toHaveProperty('last_turn_status');
    // A later edit of the agent does not touch the session, nor what its model is told.
    h.store.db.exec(`INSERT INTO agent_revisions SELECT 'rev_00000000000070008000000000000002', agent_id, 2, replace(definition, 'helpful', 'rude'), 'other', created_at, reason, author FROM agent_revisions;
      UPDATE agents SET newest_revision = 2`);
    await exchange(h, session.id, 'hello');
    expect(JSON.stringify(h.model.calls[0]?.prompt[0])).toContain('helpful');
    expect(h.agent.sessions.get(session.id).agentRevision).toBe(1);
    const pinned = start(h, { revisionId: session.agentRevisionId });
    expect(pinned.session.agentRevision).toBe(1);
    expect(codeOf(() => start(h, { agentId: AgentId.parse('nobody') }))).toBe('AGENT_NOT_FOUND');
    expect(codeOf(() => start(h, { revisionId: RevisionId.parse(newId('rev', 0)) }))).toBe('AGENT_NOT_FOUND');
  });

  it('SE-05: exists after its commit, once: equal input gives the first one, other input SESSION_CONFLICT', async () => {
    verifies('SE-05', 'GE-01');
    await using h = await createKernelHarness();
    const sessionId = SessionId.parse('my.chat-1');
    const first = start(h, { sessionId, metadata: { a: 1, b: 2 } });
    const again = start(h, { sessionId, metadata: { b: 2, a: 1 } });
    expect([again.existing, again.session]).toEqual([true, first.session]);
    expect(codeOf(() => start(h, { sessionId, metadata: { a: 1 } }))).toBe('SESSION_CONFLICT');
    expect(codeOf(() => start(h, { sessionId, title: 'x', metadata: { a: 1, b: 2 } }))).toBe('SESSION_CONFLICT');
    expect(h.types(sessionId)).toEqual(['session.started']);
    await h.crash();
    expect(start(h, { sessionId, metadata: { a: 1, b: 2 } }).existing).toBe(true);
    expect(start(h).session.id).toMatch(/^session_[0-9a-f]{32}$/);
  });

  it('SE-15, GE-06: metadata above 16 KiB and half characters are refused before anything is written', async () => {
    verifies('SE-15', 'GE-06');
    await using h = await createKernelHarness();
    expect(codeOf(() => start(h, { metadata: { x: 'y'.repeat(limits.metadataBytes) } }))).toBe('INVALID_INPUT');
    expect(codeOf(() => start(h, { metadata: { x: 'a\ud800' } }))).toBe('INVALID_INPUT');
    expect(h.agent.sessions.list({ limit: 10, trash: false }).sessions).toEqual([]);
    expect(start(h, { title: 'a\ud800b' }).session.title).toBe('a\uFFFDb');
  });

  it('SE-04: active while a turn is open, idle after it; a failed turn does not fail the session', async () => {
    verifies('SE-04');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }, { fail: new Error('x') }] });
    const { id } = start(h).session;
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    expect(h.agent.sessions.get(id).status).toBe('active');
    open.open();
    await h.settled(id, turnId);
    expect(h.agent.sessions.get(id)).toMatchObject({ status: 'idle', last_turn_status: 'failed' });
  });

  it('GE-07: lists newest first in pages; a token says where it belongs', async () => {
    verifies('GE-07', 'SE-15');
    await using h = await createKernelHarness();
    const ids = Array.from({ length: 7 }, () => {
      h.clock.advance(h.agent.sessions.list({ limit: 1, trash: false }).sessions.length % 2);
      return start(h).session.id;
    });
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = h.agent.sessions.list({ limit: 3, pageToken: token, trash: false });
      seen.push(...page.sessions.map((session) => session.id));
      token = page.nextPageToken ?? undefined;
    } while (token !== undefined);
    expect(seen).toEqual([...ids].reverse());
    // Talking in an old chat brings it to the top.
    h.clock.advance(1);
    h.agent.turns.send({ sessionId: ids[0] as SessionId, content: 'x' });
    expect(h.agent.sessions.list({ limit: 1, trash: false }).sessions[0]?.id).toBe(ids[0]);
    const { nextPageToken } = h.agent.sessions.list({ limit: 3, trash: false });
    expect(codeOf(() => h.agent.sessions.list({ limit: 3, pageToken: nextPageToken ?? '', trash: true }))).toBe('CURSOR_INCOMPATIBLE');
    expect(codeOf(() => h.agent.sessions.list({ limit: 3, pageToken: 'x', trash: false }))).toBe('CURSOR_MALFORMED');
  });

  it('SE-07: trash, restore, erase: three different things', async () => {
    verifies('SE-07');
    await using h = await createKernelHarness();
    const { id } = start(h, { title: 'Old words' }).session;
    await exchange(h, id, 'a secret question');
    h.agent.sessions.setDraft(id, 'draft');
    expect(codeOf(() => h.agent.sessions.erase(id))).toBe('INVALID_INPUT');
    const trashed = h.agent.sessions.trash(id);
    expect(trashed.trashedAt).not.toBeNull();
    expect(h.agent.sessions.trash(id)).toEqual(trashed);
    expect(h.agent.sessions.list({ limit: 9, trash: false }).sessions).toEqual([]);
    expect(h.agent.sessions.list({ limit: 9, trash: true }).sessions).toEqual([trashed]);
    expect(codeOf(() => h.agent.turns.send({ sessionId: id, content: 'x' }))).toBe('SESSION_NOT_FOUND');
    expect((await h.agent.sessions.search({ query: 'secret', limit: 5 })).hits[0]?.inTrash).toBe(true);
    expect(h.agent.sessions.restore(id)).toMatchObject({ trashedAt: null });
    await exchange(h, id, 'it goes on');
    h.agent.sessions.trash(id);
    expect(h.agent.sessions.erase(id)).toEqual({ erased: true });
    expect(codeOf(() => h.agent.sessions.get(id))).toBe('SESSION_NOT_FOUND');
    expect((await h.agent.sessions.search({ query: 'secret', limit: 5 })).hits).toEqual([]);
    for (const table of ['events', 'turns', 'messages', 'drafts', 'leases', 'partials'])
      expect(h.store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()).toBe(0);
  });

  it('SE-07: a running turn is cancelled first; erasing waits for its end', async () => {
    verifies('SE-07');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'half' }, { gate: open }, { stall: true }] });
    const { id } = start(h).session;
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    h.agent.sessions.trash(id);
    expect(h.agent.turns.get(id, turnId).status).toBe('cancelling');
    expect(codeOf(() => h.agent.sessions.erase(id))).toBe('TURN_ACTIVE');
    await h.settled(id, turnId);
    expect(h.agent.sessions.get(id).trashedAt).not.toBeNull();
    expect(h.agent.sessions.erase(id)).toEqual({ erased: true });
  });

  it('SE-07: what lay in the trash for 30 days is erased by itself, at start and later', async () => {
    verifies('SE-07');
    await using h = await createKernelHarness();
    const [old, young] = [start(h).session.id, start(h).session.id];
    h.agent.sessions.trash(old);
    const sweeps = async (days: number) => {
      h.clock.jump(days * day);
      await h.clock.advanceAsync(6 * 3_600_000);
    };
    await sweeps(29);
    h.agent.sessions.trash(young);
    expect(h.agent.sessions.list({ limit: 9, trash: true }).sessions).toHaveLength(2);
    await sweeps(2);
    expect(h.agent.sessions.list({ limit: 9, trash: true }).sessions.map((session) => session.id)).toEqual([young]);
    await h.crash();
    h.clock.jump(30 * day);
    h.agent.recover();
    expect(h.agent.sessions.list({ limit: 9, trash: true }).sessions).toEqual([]);
  });

  it('the live list: a snapshot at once, then at most one per 100 ms, and nothing while nothing changes', async () => {
    await using h = await createKernelHarness();
    start(h, { title: 'first' });
    const controller = new AbortController();
    const seen: Snapshot<SessionListValue>[] = [];
    const reading = (async () => {
      for await (const snapshot of h.agent.sessions.watchList(controller.signal)) seen.push(snapshot);
    })();
    await h.clock.advanceAsync(0);
    expect(seen.map(({ value }) => value.total)).toEqual([1]);
    h.store.write(() => {
      for (let n = 0; n < 20; n++) start(h);
    });
    await h.clock.advanceAsync(99);
    expect(seen.length).toBeLessThanOrEqual(2);
    await h.clock.advanceAsync(1);
    expect(seen.at(-1)?.value.total).toBe(21);
    const count = seen.length;
    await h.clock.advanceAsync(5_000);
    expect(seen).toHaveLength(count);
    expect(seen.map(({ revision }) => revision)).toEqual([...seen.map(({ revision }) => revision)].sort((a, b) => a - b));
    const { sessions } = h.agent.sessions.list({ limit: 1, trash: false });
    h.agent.sessions.trash(sessions[0]?.id as SessionId);
    await h.clock.advanceAsync(200);
    expect(seen.at(-1)?.value).toMatchObject({ total: 20, trashed: 1 });
    controller.abort();
    await reading;
  });

  it('drafts: per chat and for the chat that does not exist yet, over a restart; whole characters only', async () => {
    await using h = await createKernelHarness();
    const { id } = start(h).session;
    h.agent.sessions.setDraft(null, 'new chat');
    h.agent.sessions.setDraft(id, `a\ud800${'x'.repeat(1_000_000)}`);
    await h.crash();
    expect(h.agent.sessions.getDraft(null)).toEqual({ text: 'new chat' });
    expect(h.agent.sessions.getDraft(id).text).toBe(`a\uFFFD${'x'.repeat(1_000_000)}`);
    h.agent.sessions.setDraft(null, '');
    expect(h.agent.sessions.getDraft(null)).toEqual({ text: '' });
    expect(codeOf(() => h.agent.sessions.setDraft(SessionId.parse('nobody'), 'x'))).toBe('SESSION_NOT_FOUND');
  });

  it('search: titles and messages with marks in their excerpts', async () => {
    await using h = await createKernelHarness({ scripts: [{ say: 'The cat of Mr. Holm is Pixel.' }] });
    const { id } = start(h, { title: 'Pets of Mr. Holm' }).session;
    await exchange(h, id, 'Who is the cat?');
    const { hits, more } = await h.agent.sessions.search({ query: 'holm', limit: 5 });
    expect(more).toBe(false);
    expect(hits.map((hit) => [hit.where, hit.marks.map(([from, to]) => hit.excerpt.slice(from, to)), hit.sequence === null])).toEqual([
      ['title', ['Holm'], true],
      ['message', ['Holm'], false],
    ]);
    expect((await h.agent.sessions.search({ query: 'holm', limit: 1 })).more).toBe(true);
  });
});

describe('titles', () => {
  it('a spoken answer is heard before its chat is named: a title would take the processor from its sound', async () => {
    const answer = 'The capital of Japan is Tokyo.';
    await using h = await createKernelHarness({
      scripts: (prompt) => [{ say: JSON.stringify(prompt.at(-1)).includes('Write a title') ? 'Capital of Japan' : answer }],
    });
    const { id } = h.agent.sessions.start({ origin: 'voice' }).session;
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'What is the capital of Japan?', source: 'voice' });
    await h.settled(id, turnId);
    await h.clock.advanceAsync(answer.length * 80 - 1);
    expect(h.model.calls).toHaveLength(1);
    await h.clock.advanceAsync(1);
    await h.until(() => h.agent.sessions.get(id).title === 'Capital of Japan');
  });

  it('SE-10: made after the first exchange, once, by the model', async () => {
    verifies('SE-10');
    await using h = await createKernelHarness({
      scripts: (prompt) =>
        JSON.stringify(prompt.at(-1)).includes('Write a title') ? [{ say: '"Capital of Japan"\nmore' }] : [{ say: 'Tokyo.' }],
    });
    const { id } = start(h).session;
    await exchange(h, id, 'What is the capital of Japan?');
    await h.until(() => h.agent.sessions.get(id).title !== null);
    expect(h.agent.sessions.get(id)).toMatchObject({ title: 'Capital of Japan', titleBy: 'model' });
    expect(
      h
        .log(id)
        .filter((event) => event.type === 'llm.generation')
        .map((event) => event.data.purpose),
    ).toEqual(['reply', 'title']);
    await exchange(h, id, 'And of France?');
    await h.clock.advanceAsync(0);
    expect(h.model.calls).toHaveLength(3);
    // The title's prompt begins like the conversation, so the engine keeps what it has read.
    expect(JSON.stringify(h.model.calls[1]?.prompt).startsWith(JSON.stringify(h.model.calls[0]?.prompt).slice(0, -1))).toBe(true);
    // A title makes no turn and no message.
    expect(h.agent.turns.history({ sessionId: id, limit: 10 }).messages).toHaveLength(4);
  });

  it('SE-10: a title of the owner is never replaced, not even one that comes while the model thinks', async () => {
    verifies('SE-10');
    const open = gate();
    await using h = await createKernelHarness({
      scripts: (prompt) =>
        JSON.stringify(prompt.at(-1)).includes('Write a title') ? [{ gate: open }, { say: 'Capital of Japan' }] : [{ say: 'Tokyo.' }],
    });
    const { id } = start(h).session;
    await exchange(h, id, 'What is the capital of Japan?');
    await open.reached;
    h.agent.sessions.setTitle(id, 'Mine');
    open.open();
    await h.until(() => h.log(id).some((event) => event.type === 'llm.generation' && event.data.purpose === 'title'));
    await h.clock.advanceAsync(0);
    expect(h.agent.sessions.get(id)).toMatchObject({ title: 'Mine', titleBy: 'owner' });
    const named = start(h, { title: 'Named' }).session.id;
    const calls = h.model.calls.length;
    await exchange(h, named, 'What is the capital of Japan?');
    await h.clock.advanceAsync(0);
    expect(h.model.calls).toHaveLength(calls + 1);
    expect(h.agent.sessions.get(named).title).toBe('Named');
  });

  it('SE-10: a useless or failing model: the first words of the question', async () => {
    verifies('SE-10');
    for (const title of ['Tokyo.', 'Sure! Here is a long talk about what a title of a conversation could be like', '']) {
      await using h = await createKernelHarness({
        scripts: (prompt) =>
          JSON.stringify(prompt.at(-1)).includes('Write a title')
            ? [title === '' ? { fail: new Error('x') } : { say: title }]
            : [{ say: 'Tokyo.' }],
      });
      const { id } = start(h).session;
      await exchange(h, id, 'What is the capital of Japan and why is it so much larger than Kyoto?');
      await h.until(() => h.agent.sessions.get(id).title !== null);
      expect(h.agent.sessions.get(id)).toMatchObject({
        title: 'What is the capital of Japan and why is it so much larger…',
        titleBy: 'model',
      });
    }
  });

  it('SE-10: a turn never waits for a title: the title gives way and is made afterwards', async () => {
    verifies('SE-10');
    const open = gate();
    let titles = 0;
    await using h = await createKernelHarness({
      scripts: (prompt) => {
        if (!JSON.stringify(prompt.at(-1)).includes('Write a title')) return [{ say: 'Tokyo.' }];
        titles += 1;
        return titles === 1 ? [{ gate: open }, { stall: true }] : [{ say: 'Capital of Japan' }];
      },
    });
    const { id } = start(h).session;
    await exchange(h, id, 'What is the capital of Japan?');
    await open.reached;
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'And now?' });
    expect(h.model.calls[1]?.abortSignal?.aborted).toBe(true);
    await h.settled(id, turnId);
    await h.until(() => h.agent.sessions.get(id).title !== null);
    expect(h.agent.sessions.get(id)).toMatchObject({ title: 'Capital of Japan', titleBy: 'model' });
  });
});
