import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/runtime/platform/logger.ts';
import { createScriptedModel } from '../../helpers/scriptedLanguageModel.ts';
import { createTestRuntime } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';

describe('PV-14: what a whole conversation leaves in the log', () => {
  it('holds events, and none of the words that were planted in messages, titles, drafts, searches, answers and errors', async () => {
    verifies('PV-14');
    const lines: string[] = [];
    const logger = createLogger({ write: (line) => lines.push(line), close: () => {} }, () => 0);
    const model = createScriptedModel([
      [{ say: 'The answer says KANGAROO-ANSWER.' }],
      [{ say: 'partial WOMBAT-ANSWER' }, { fail: new Error('cannot read /home/PLATYPUS/secret while saying ECHIDNA-ERROR') }],
      [{ say: 'BANDICOOT-TITLE' }],
    ]);
    await using rt = await createTestRuntime({ models: model, logger });
    const { client } = rt;
    const { session } = await client.sessions.start({ title: 'QUOKKA-TITLE', metadata: { note: 'NUMBAT-META' } });
    for (const content of ['my password is DINGO-MESSAGE', 'and POSSUM-MESSAGE']) {
      const events = await client.events.watch({ sessionId: session.id });
      const { turnId } = await client.turns.send({ sessionId: session.id, content });
      for await (const item of events) {
        if (item.kind === 'durable' && item.event.context.turn_id === turnId && /^turn\.(completed|failed)$/.test(item.event.type)) break;
      }
    }
    await client.sessions.setDraft({ sessionId: session.id, text: 'WALLABY-DRAFT' });
    await client.sessions.search({ query: 'EMU-QUERY' });
    await client.sessions.get({ sessionId: 'CASSOWARY-ID' }).catch(() => {});
    await client.turns.send({ sessionId: session.id, content: [] as never }).catch(() => {});
    await rt.stop();
    const log = lines.join('');
    const planted = [
      'KANGAROO',
      'WOMBAT',
      'PLATYPUS',
      'ECHIDNA',
      'BANDICOOT',
      'QUOKKA',
      'NUMBAT',
      'DINGO',
      'POSSUM',
      'WALLABY',
      'EMU',
      'CASSOWARY',
      rt.dataDir,
    ];
    expect(planted.filter((word) => log.includes(word))).toEqual([]);
    expect(log).toContain('"event":"runtime.recovered"');
  });
});
