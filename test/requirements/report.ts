// `npm run requirements [-- --part NAME] [--json] [--known]`: the rows that no test of the right level has proved since `npm test` began.
// `--known`: those that say themselves what they lack are no failure.
import { parseArgs } from 'node:util';
import { type Requirement, requirements } from '../requirements.ts';
import { idleProofs, missingRows } from './missing.ts';
import { readProofs } from './proofs.ts';

const { values } = parseArgs({
  options: { part: { type: 'string' }, json: { type: 'boolean', default: false }, known: { type: 'boolean', default: false } },
});
const { part } = values;
const rows: readonly Requirement[] = part === undefined ? requirements : requirements.filter((row) => row.part === part);
if (rows.length === 0) {
  console.error(`no rows of part ${part}; there are ${[...new Set(requirements.map((row) => row.part))].join(', ')}`);
  process.exit(64);
}
const proofs = readProofs();
const missing = missingRows(rows, proofs);
if (values.json) {
  console.log(JSON.stringify({ missing: missing.map((row) => row.id) }));
} else {
  for (const row of missing)
    console.log(`${row.id.padEnd(8)} ${row.levels.join('/').padEnd(12)} ${row.open === undefined ? row.what : `open: ${row.open}`}`);
  const idle = idleProofs(requirements, proofs);
  if (idle.length > 0) console.log(`\nThese count for nothing:\n  ${idle.join('\n  ')}`);
  console.log(`\n${rows.length - missing.length} of ${rows.length} rows proved, ${missing.length} missing`);
}
process.exitCode = missing.some((row) => !values.known || row.open === undefined) ? 1 : 0;
