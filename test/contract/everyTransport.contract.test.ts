import { describe, expect, it } from 'vitest';
import { verifies } from '../helpers/verifies.ts';
import { transports } from './transports.ts';

describe.each(transports)('the contract $name', (transport) => {
  const open = () => transport.open();

  it('answers a call, with defaults and brands applied', async () => {
    await using reach = await open();
    const { session, existing } = await reach.client.sessions.start({ title: '  Trip to Åland  ' });
    expect(existing).toBe(false);
    expect(session).toMatchObject({ title: 'Trip to Åland', origin: 'app', titleBy: 'owner' });
    expect(await reach.client.sessions.get({ sessionId: session.id })).toEqual(session);
  });

  it('GE-04: carries a typed error with its data, and no words of the server', async () => {
    verifies('GE-04');
    await using reach = await open();
    await expect(reach.client.sessions.start({ sessionId: '../../etc' })).rejects.toMatchObject({
      name: 'AppError',
      code: 'INVALID_INPUT',
      data: { field: 'sessionId', reason: 'format' },
    });
    const { session } = await reach.client.sessions.start({});
    await expect(reach.client.turns.cancel({ sessionId: session.id })).rejects.toMatchObject({ name: 'AppError', code: 'NO_ACTIVE_TURN' });
    await expect(reach.client.sessions.erase({ sessionId: session.id, confirm: true })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('streams a live value: the whole first, then what is newer, with a rising revision', async () => {
    await using reach = await open();
    const list = await reach.client.sessions.watchList({});
    const first = await list.next();
    if (first.done === true) throw new Error('ended');
    expect(first.value.value.total).toBe(0);
    await reach.client.sessions.start({ title: 'One' });
    for await (const snapshot of list) {
      expect(snapshot.revision).toBeGreaterThan(first.value.revision);
      if (snapshot.value.total === 1) break;
    }
  });

  it('carries a long text with every kind of character unharmed', async () => {
    await using reach = await open();
    // A quarter of a million characters that grow when they are written as JSON, and half a surrogate pair.
    const text = 'a"\\\n\u0000\u2028é𝄞\ud800'.repeat(20_000);
    await reach.client.sessions.setDraft({ sessionId: null, text });
    const { text: back } = await reach.client.sessions.getDraft({ sessionId: null });
    expect(back.length).toBe(text.length);
    expect(back.replaceAll('\ufffd', '\ud800')).toBe(text);
  });

  it('ends a stream when its reader goes', async () => {
    await using reach = await open();
    const list = await reach.client.sessions.watchList({});
    await list.next();
    await list.return();
    expect(await list.next()).toMatchObject({ done: true });
    expect((await reach.client.sessions.list({})).sessions).toEqual([]);
  });

  it('ends waiting calls and streams with RUNTIME_UNAVAILABLE when the connection drops', async () => {
    await using reach = await open();
    const list = await reach.client.sessions.watchList({});
    await list.next();
    const next = expect(list.next()).rejects.toMatchObject({ name: 'AppError', code: 'RUNTIME_UNAVAILABLE' });
    reach.close();
    await next;
    const other = await reach.another();
    expect((await other.sessions.list({})).sessions).toEqual([]);
  });

  it('ends a stream with CANCELLED when its caller aborts', async () => {
    await using reach = await open();
    const abort = new AbortController();
    const list = await reach.client.sessions.watchList({}, { signal: abort.signal });
    await list.next();
    const next = expect(list.next()).rejects.toMatchObject({ name: 'AppError', code: 'CANCELLED' });
    abort.abort();
    await next;
  });

  it('keeps calls of one connection apart: twelve at once, each with its own answer', async () => {
    await using reach = await open();
    const titles = Array.from({ length: 12 }, (_, i) => `Chat ${i}`);
    const started = await Promise.all(titles.map((title) => reach.client.sessions.start({ title })));
    expect(started.map((one) => one.session.title)).toEqual(titles);
  });
});
