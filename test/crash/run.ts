// `npm run test:crash -- [--kills N] [--seed S]`: a conversation in a real window with the real model, whose main, runtime and engine are
// killed at random moments. Afterwards every message that was ever shown is stored, and the database is whole.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startDisplay } from '../../e2e/helpers/display.ts';
import { makeTemplate } from '../../e2e/helpers/template.ts';
import { createChance } from './chance.ts';
import { createConversation, type Victim } from './conversation.ts';

const questions = [
  'What is the capital of Japan?',
  'Which animal says meow?',
  'What colour is the sky on a clear day?',
  'Repeat exactly: The quick brown fox.',
  'Write a short friendly reminder about an unpaid invoice.',
];
const victims: readonly Victim[] = ['main', 'runtime', 'engine'];
/** From before the message is stored until well into an answer. */
const latestMs = 2_500;

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '20' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
});
const kills = Number(values.kills);
const chance = createChance(Number(values.seed));
const pick = <T>(list: readonly T[]): T => {
  const one = list[Math.floor(chance() * list.length)];
  if (one === undefined) throw new Error('an empty list');
  return one;
};
console.log(`${kills} kills, seed ${values.seed}`);

const display = await startDisplay();
const data = await mkdtemp(join(tmpdir(), 'sotto-crash-'));
let talk: Awaited<ReturnType<typeof createConversation>> | null = null;
try {
  await makeTemplate(data);
  talk = await createConversation(data, chance);
  await talk.askCalmly('0: Hello!');
  const killed = new Map<Victim, number>();
  for (let round = 1; round <= kills; round++) {
    const wish = pick(victims);
    const ms = Math.floor(chance() * latestMs);
    await talk.ask(`${round}: ${pick(questions)}`, ms);
    const victim = await talk.kill(wish);
    killed.set(victim, (killed.get(victim) ?? 0) + 1);
    console.log(`${String(round).padStart(4)}  ${victim.padEnd(8)} after ${String(ms).padStart(4)} ms  ${talk.shown.size} messages shown`);
    await talk.askCalmly(`${round} again: ${pick(questions)}`);
  }
  const messages = await talk.end();
  const counts = [...killed].map(([victim, count]) => `${victim} ${count}`).join(', ');
  console.log(`\n${kills} kills (${counts}): all of ${messages} shown messages are stored, integrity_check ok`);
} catch (error) {
  console.error(error);
  console.error((await talk?.evidence()) ?? '');
  console.error(`again with: npm run test:crash -- --kills ${kills} --seed ${values.seed}`);
  process.exitCode = 1;
} finally {
  if (process.exitCode === 1) await talk?.end().catch(() => 0);
  await display.stop();
  await rm(data, { recursive: true, force: true, maxRetries: 5 });
}
