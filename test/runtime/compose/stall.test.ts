import { describe, expect, it } from 'vitest';
import type { DurableEvent } from '../../../src/shared/domain/events.ts';
import { type Behaviour, createInlineFakeEngine } from '../../helpers/fakeEngine.ts';
import { createTestRuntime } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';
import { fakeTime, setUpEngines } from '../engines/harness.ts';

/** One turn of the real kernel over the real engine client and an engine that plays; time runs until the turn is over. */
async function turnOver(behaviours: readonly Behaviour[]) {
  const clock = fakeTime();
  const starter = createInlineFakeEngine(behaviours);
  const { language } = setUpEngines(starter, { clock });
  await using rt = await createTestRuntime({ models: language(), clock });
  const { session } = await rt.client.sessions.start({});
  const events = await rt.client.events.watch({ sessionId: session.id });
  await rt.client.turns.send({ sessionId: session.id, content: 'Hello' });
  const durable: DurableEvent[] = [];
  let over = false;
  const reading = (async () => {
    for await (const item of events) {
      if (item.kind !== 'durable') continue;
      durable.push(item.event);
      if (['turn.completed', 'turn.failed'].includes(item.event.type)) break;
    }
    over = true;
  })();
  while (!over) await clock.advanceAsync(1_000);
  await reading;
  const { messages } = await rt.client.turns.history({ sessionId: session.id });
  return {
    end: durable.at(-1),
    types: durable.map((event) => event.type),
    texts: messages.map((message) => message.text),
    starts: starter.starts,
  };
}

const hangs: Behaviour = { faults: [{ on: 'generate', step: 2, act: 'hang' }] };

describe('TU-13: a local model that stands still', () => {
  it('is ended by the engine limits, and the step is tried once more', async () => {
    verifies('TU-13');
    const { end, texts, starts } = await turnOver([hangs, {}]);
    expect(end).toMatchObject({ type: 'turn.completed' });
    expect(texts).toEqual(['Hello', 'One two three']);
    expect(starts).toBe(2);
  });

  it('fails the turn with MODEL_STALLED and the cause when it does it again', async () => {
    verifies('TU-13');
    const { end, starts } = await turnOver([hangs]);
    expect(end).toMatchObject({ type: 'turn.failed', data: { error_code: 'MODEL_STALLED', details: { cause: 'ENGINE_TIMEOUT' } } });
    expect(starts).toBe(2);
  });
});

describe('RB-29: a crash mid-token', () => {
  it('ends the turn with its own error, keeps what was said, and the next turn is answered', async () => {
    const { end, texts } = await turnOver([{ faults: [{ on: 'generate', step: 3, act: 'exit0' }] }]);
    expect(end).toMatchObject({
      type: 'turn.failed',
      data: { error_code: 'ENGINE_CRASHED', details: { engineKey: 'language', stage: 'decode' } },
    });
    expect(texts).toEqual(['Hello', 'One two']);
  });
});
