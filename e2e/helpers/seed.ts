// `node e2e/helpers/seed.ts FOLDER ANSWER_FILE`: writes one conversation into a data folder whose answer is the text of the file. The
// product's own runtime stores it; only the model is scripted. Runs on Node 24.
import { readFileSync } from 'node:fs';
import { createTestRuntime } from '../../test/helpers/testRuntime.ts';

const [folder, answerFile] = process.argv.slice(2);
if (folder === undefined || answerFile === undefined) throw new Error('usage: seed.ts FOLDER ANSWER_FILE');
const runtime = await createTestRuntime({ dataDir: folder });
runtime.model.play([{ say: readFileSync(answerFile, 'utf8') }]);
const { session } = await runtime.client.sessions.start({ title: 'Seeded chat' });
const { turnId } = await runtime.client.turns.send({ sessionId: session.id, content: 'A question' });
for await (const item of await runtime.client.events.watch({ sessionId: session.id })) {
  if (JSON.stringify(item).includes('turn.completed')) break;
}
const { status } = await runtime.client.turns.get({ sessionId: session.id, turnId });
if (status !== 'completed') throw new Error(`the seeded turn ended as ${status}`);
await runtime.stop();
process.exit(0);
