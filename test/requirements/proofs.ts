import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Level } from '../requirements.ts';

/** One passed and asserting test that says it proves a row. `file` is relative to the checkout. */
const Proof = z.object({ id: z.string(), test: z.string(), file: z.string() });
export type Proof = z.infer<typeof Proof>;

const folder = join('out', 'requirements');

/**
 * Replaces what one test file proved at one level. A file per test file: runners write side by side without a lock, and a run of one
 * file leaves the proofs of the others.
 *
 * @param file    the test file, relative to the checkout.
 * @param proofs  of its passed tests; an empty list takes back what an earlier run proved.
 */
export function writeProofs(level: Level, file: string, proofs: readonly { id: string; test: string }[], root = folder): void {
  const target = join(root, level, `${file.replaceAll(/[^\w.-]+/g, '__')}.json`);
  if (proofs.length === 0 && !existsSync(target)) return;
  mkdirSync(join(root, level), { recursive: true });
  const fresh = `${target}.${process.pid}`;
  writeFileSync(
    fresh,
    JSON.stringify(
      proofs.map(({ id, test }) => ({ id, test, file })),
      null,
      1,
    ),
  );
  renameSync(fresh, target);
}

/** All proofs by level; those of test files that are gone are left out. */
export function readProofs(root = folder): { level: string; proof: Proof }[] {
  if (!existsSync(root)) return [];
  const found: { level: string; proof: Proof }[] = [];
  for (const level of readdirSync(root)) {
    if (level.includes('.')) continue;
    for (const name of readdirSync(join(root, level)).filter((entry) => entry.endsWith('.json'))) {
      for (const proof of z.array(Proof).parse(JSON.parse(readFileSync(join(root, level, name), 'utf8')))) {
        if (existsSync(proof.file)) found.push({ level, proof });
      }
    }
  }
  return found;
}
