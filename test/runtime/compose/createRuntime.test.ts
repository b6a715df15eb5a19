import { readFile, stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { WatchItem } from '../../../src/shared/domain/events.ts';
import { version } from '../../../src/shared/version.ts';
import { gate } from '../../helpers/scriptedLanguageModel.ts';
import { type Client, createTestRuntime } from '../../helpers/testRuntime.ts';

/** Sends a message and reads the stream until the turn is over. */
async function ask(client: Client, content: string) {
  const { session } = await client.sessions.start({});
  const events = await client.events.watch({ sessionId: session.id });
  const receipt = await client.turns.send({ sessionId: session.id, content });
  const items: WatchItem[] = [];
  for await (const item of events) {
    items.push(item);
    if (item.kind === 'durable' && ['turn.completed', 'turn.failed', 'turn.cancelled'].includes(item.event.type)) break;
  }
  return { session, receipt, items };
}

describe('createRuntime', () => {
  it('answers a message with the scripted model, from the contract to the database', async () => {
    await using rt = await createTestRuntime();
    rt.model.play([{ say: 'Forty-two, of course.' }]);
    const { session, items } = await ask(rt.client, 'What is the answer?');
    expect(items.at(-1)).toMatchObject({ kind: 'durable', event: { type: 'turn.completed' } });
    const history = await rt.client.turns.history({ sessionId: session.id });
    expect(history.messages.map((message) => message.text)).toEqual(['What is the answer?', 'Forty-two, of course.']);
  });

  it('keeps what was said over a restart of the runtime', async () => {
    const first = await createTestRuntime();
    const { session } = await ask(first.client, 'Remember me');
    await first.stop();
    await using second = await createTestRuntime({ dataDir: first.dataDir });
    const history = await second.client.turns.history({ sessionId: session.id });
    expect(history.messages.map((message) => message.text)[0]).toBe('Remember me');
    await second.stop();
    await first[Symbol.asyncDispose]();
  });

  it('refuses a second runtime on the same folder and leaves the first one alone', async () => {
    await using rt = await createTestRuntime();
    await expect(createTestRuntime({ dataDir: rt.dataDir })).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
    expect((await rt.client.sessions.list({})).sessions).toEqual([]);
  });

  it('ends a running turn in good order when it stops', async () => {
    const rt = await createTestRuntime();
    const wait = gate();
    rt.model.play([{ say: 'One' }, { gate: wait }, { say: ' two' }]);
    const { session } = await rt.client.sessions.start({});
    await rt.client.turns.send({ sessionId: session.id, content: 'Count' });
    await wait.reached;
    await rt.stop();
    await using again = await createTestRuntime({ dataDir: rt.dataDir });
    const { messages } = await again.client.turns.history({ sessionId: session.id });
    expect(messages[0]?.text).toBe('Count');
    await again.stop();
    await rt[Symbol.asyncDispose]();
  });

  it('tells its health, and that a database is open', async () => {
    await using rt = await createTestRuntime();
    const health = await rt.client.runtime.health({});
    const { value } = await health.next();
    expect(value).toMatchObject({
      value: { version, store: { state: 'ok' }, engines: [{ key: 'language', state: 'idle' }, { key: 'speech' }, { key: 'probe' }] },
    });
    await health.return();
  });

  it('keeps its folder for its owner alone', async () => {
    await using rt = await createTestRuntime();
    expect((await stat(rt.dataDir)).mode & 0o777).toBe(0o700);
    expect((await stat(rt.paths.models)).mode & 0o777).toBe(0o700);
  });
});

describe('version', () => {
  it('is that of package.json', async () => {
    expect(JSON.parse(await readFile('package.json', 'utf8'))).toMatchObject({ version });
  });
});
