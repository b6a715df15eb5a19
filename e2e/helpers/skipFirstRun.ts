// `node e2e/helpers/skipFirstRun.ts FOLDER`: a data folder as a person has it who is past the first steps. The product's own runtime makes
// it. Runs on Node 24.
import { createTestRuntime } from '../../test/helpers/testRuntime.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: skipFirstRun.ts FOLDER');
const runtime = await createTestRuntime({ dataDir: folder });
await runtime.client.settings.set({ firstRun: 'done' });
await runtime.stop();
process.exit(0);
