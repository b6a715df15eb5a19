import type { Requirement } from '../requirements.ts';
import type { Proof } from './proofs.ts';

type LevelProof = { readonly level: string; readonly proof: Proof };

/**
 * The rows that no test of one of their levels proved, and those that are not wholly built.
 *
 * @param rows    what has to be proved.
 * @param proofs  what ran, passed and asserted something.
 */
export function missingRows(rows: readonly Requirement[], proofs: readonly LevelProof[]): Requirement[] {
  return rows.filter(
    (row) =>
      row.open !== undefined || !proofs.some(({ level, proof }) => proof.id === row.id && row.levels.some((wanted) => wanted === level)),
  );
}

/** Proofs of rows that stay unproved: a test at the wrong level, or of a row that is gone. */
export function idleProofs(rows: readonly Requirement[], proofs: readonly LevelProof[]): string[] {
  // What is proved of a row that is not wholly built is no mistake.
  const open = new Set(missingRows(rows, proofs).flatMap((row) => (row.open === undefined ? [row.id] : [])));
  return proofs
    .filter(({ proof }) => open.has(proof.id) || !rows.some((row) => row.id === proof.id))
    .map(({ level, proof }) => `${proof.id}, by the ${level} test "${proof.test}" of ${proof.file}`);
}
