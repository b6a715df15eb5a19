// `npm run types`: checks the types of every environment. Each has its own tsconfig, and so sees only what it may use.
import { availableParallelism } from 'node:os';
import { pinnedNode } from './support/node24.mjs';
import { run, tailOf } from './support/process.mjs';
import { inRoot } from './support/root.mjs';
import { logFile } from './support/steps.mjs';

const projects = ['src/runtime', 'test', 'src/renderer', 'src/engine', 'src/main', 'src/main/tsconfig.electron25.json', 'src/shared'];

const tsc = inRoot('node_modules', 'typescript', 'bin', 'tsc');
const waiting = [...projects];
let failed = 0;

async function worker() {
  for (let project = waiting.shift(); project !== undefined; project = waiting.shift()) {
    const log = logFile(`types ${project}`);
    const buildInfo = inRoot('out', 'types', `${project.replaceAll(/\W+/g, '-')}.tsbuildinfo`);
    const { code } = await run(
      [pinnedNode().path, tsc, '-p', inRoot(project), '--pretty', 'false', '--incremental', '--tsBuildInfoFile', buildInfo],
      { log },
    );
    if (code !== 0) {
      failed += 1;
      console.log(`✗ ${project}\n${tailOf(log, 60)}`);
    }
  }
}

await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
console.log(
  failed === 0 ? `types: ${projects.length} environments clean` : `types: ${failed} of ${projects.length} environments have errors`,
);
process.exitCode = failed === 0 ? 0 : 1;
