import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPreflight } from '../../../src/runtime/compose/preflight.ts';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { createFiles } from '../../../src/runtime/platform/files.ts';
import { createNodeStarter } from '../../../src/runtime/platform/nodeStarter.ts';
import type { WatchItem } from '../../../src/shared/domain/events.ts';
import { testModel } from '../../helpers/testModel.ts';
import { createTestRuntime, type TestRuntime } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';
import { setUpEngines } from './harness.ts';

// The whole chain but the window: contract → kernel → engine client → child process → koffi → llama.cpp → a real model.

let rt: TestRuntime;
let engines: ReturnType<typeof setUpEngines>;
beforeAll(async () => {
  const clock = createClock();
  const files = createFiles();
  engines = setUpEngines(createNodeStarter({ here: import.meta.url }), {
    clock,
    path: testModel(),
    preflight: createPreflight(files, clock),
    env: { SOTTO_THREADS: '1', SOTTO_CONTEXT: '1024' },
  });
  rt = await createTestRuntime({ models: engines.language(), sampling: { temperature: 0 } });
});
afterAll(async () => {
  await rt[Symbol.asyncDispose]();
  await engines.engines[Symbol.asyncDispose]();
});

const ends = ['turn.completed', 'turn.failed', 'turn.cancelled'];

async function ask(content: string, onItem: (item: WatchItem, sessionId: string) => unknown = () => {}) {
  const { session } = await rt.client.sessions.start({});
  const events = await rt.client.events.watch({ sessionId: session.id });
  await rt.client.turns.send({ sessionId: session.id, content });
  let end: string | null = null;
  let error: unknown = null;
  for await (const item of events) {
    await onItem(item, session.id);
    if (item.kind !== 'durable' || !ends.includes(item.event.type)) continue;
    end = item.event.type;
    error = item.event.data.error_code ?? null;
    break;
  }
  const { messages } = await rt.client.turns.history({ sessionId: session.id });
  return { end, error, answer: messages.find((message) => message.role === 'assistant')?.text ?? '' };
}

describe('a real answer', () => {
  it('streams the expected word, and tells how fast', async () => {
    const kinds = new Set<string>();
    const { end, answer } = await ask('What is the capital of France? Answer in one word.', (item) => {
      if (item.kind === 'ephemeral') kinds.add(item.event.type);
    });
    expect(end).toBe('turn.completed');
    expect(answer).toContain('Paris');
    expect([...kinds]).toContain('output.message.delta');
    expect(engines.engines.status.get()).toMatchObject({ state: 'ready', contextSize: 1024 });
  });

  it('stops in the middle and keeps what was said', async () => {
    let asked = false;
    const { end, answer } = await ask('Write a very long story about a lighthouse.', async (item, sessionId) => {
      if (asked || item.kind !== 'ephemeral' || item.event.type !== 'output.message.delta') return;
      asked = true;
      await rt.client.turns.cancel({ sessionId });
    });
    expect(end).toBe('turn.cancelled');
    expect(answer.length).toBeGreaterThan(0);
  });

  it('RB-29: survives a real kill of the engine in the middle, and answers again', async () => {
    verifies('RB-29');
    let killed = false;
    const story = await ask('Write a very long story about a river.', (item) => {
      if (killed || item.kind !== 'ephemeral' || item.event.type !== 'output.message.delta') return;
      killed = true;
      process.kill(engines.pid(), 'SIGKILL');
    });
    expect(story).toMatchObject({ end: 'turn.failed', error: 'ENGINE_CRASHED' });
    expect((await ask('What is the capital of France? Answer in one word.')).answer).toContain('Paris');
  });
});

describe('a real trial', () => {
  it('loads the file in an engine of its own and ends it', async () => {
    await engines.engines.trial(testModel(), new AbortController().signal);
    expect(engines.engines.health().find(({ key }) => key === 'probe')).toMatchObject({ state: 'exited', lastError: null });
  });
});
