import { createClock } from '../../../src/runtime/platform/clock.ts';
import { tinyGguf } from '../../helpers/ggufBytes.ts';
import { createHarness, modelId, targetOf } from './harness.ts';

// Run by crash.process.test.ts: downloads one model into a folder and dies where SOTTO_KILL_AT says.
const [dir = '', url = '', data = '0'] = process.argv.slice(2);
const rt = createHarness({ dir, targets: [targetOf(tinyGguf({ data: Number(data) }), [url])], clock: createClock() });
const stayAlive = setInterval(() => {}, 1000);
await rt.downloads.recover();
const { jobId } = await rt.downloads.start(modelId);
const job = await rt.until(jobId, 'installed', 'failed');
await rt.downloads[Symbol.asyncDispose]();
rt.db.close();
clearInterval(stayAlive);
process.exitCode = job.phase === 'installed' ? 0 : 1;
