import { createAgent } from '../../../src/runtime/agent/createAgent.ts';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { openStore } from '../../../src/runtime/store/open.ts';
import { SessionId } from '../../../src/shared/domain/ids.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createScriptedModel } from '../../helpers/scriptedLanguageModel.ts';
import { silent, tempPaths } from './harness.ts';

/**
 * A runtime that holds a conversation until a crash point kills it (`SOTTO_KILL_AT`): three messages, the second one cancelled, as a voice
 * would, with what was heard of it before its end; of the third what was heard is told after its end. It tells its parent what it
 * accepted and what it showed, as a window would know it.
 */
const say = (message: object) => new Promise<void>((resolve) => process.send?.(message, () => resolve()) ?? resolve());
// The clock's timers do not keep a process alive; the channel to the parent does.
process.on('message', () => undefined);
const clock = createClock();
const store = await openStore({ paths: tempPaths(process.argv[2]), clock, log: silent, migrations });
const model = createScriptedModel((_, call) => [
  { say: `Answer number ${call} with several words` },
  ...(call === 1 ? [{ stall: true as const }] : []),
]);
const agent = createAgent({
  store,
  clock,
  log: silent,
  models: { current: () => model, unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'none' }) },
});
agent.recover();
const sessionId = SessionId.parse('chat');
agent.sessions.start({ origin: 'app', sessionId, title: 'Named' });
const shown = (async () => {
  for await (const item of agent.events.watch({ sessionId, after: 0 }))
    if (item.kind === 'durable') await say({ shown: item.event.sequence, type: item.event.type, data: item.event.data });
})();
for (let n = 0; n < 3; n++) {
  const { turnId } = agent.turns.send({ sessionId, content: `message ${n}`, idempotencyKey: `key ${n}` });
  await say({ accepted: n, turnId });
  if (n === 1) {
    while (model.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
    // Long enough for the answer's text to be put aside once.
    await new Promise<void>((resolve) => clock.setTimer(1_200, resolve));
    agent.turns.cancel({ sessionId, turnId, reason: 'barge-in' });
    agent.turns.heard({ sessionId, turnId, units: 6 });
  }
  while (agent.turns.get(sessionId, turnId).completedAt === null) await new Promise((resolve) => setImmediate(resolve));
  if (n === 2) agent.turns.heard({ sessionId, turnId, units: 6 });
}
await agent[Symbol.asyncDispose]();
await shown;
await say({ finished: true });
await store[Symbol.asyncDispose]();
process.disconnect();
