import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Requirement, requirements } from '../requirements.ts';
import { idleProofs, missingRows } from './missing.ts';
import { readProofs, writeProofs } from './proofs.ts';

const here = 'test/requirements/report.test.ts';
const rows: Requirement[] = [
  { id: 'A-01', part: 'p', levels: ['store', 'process'], what: '' },
  { id: 'A-02', part: 'p', levels: ['unit'], what: '' },
];
const proof = (id: string) => ({ id, test: 't', file: here });

describe('the requirements report', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sotto-proofs-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });

  it('lists a row whose only proof is of another level, and says so', () => {
    const proofs = [
      { level: 'process', proof: proof('A-01') },
      { level: 'page', proof: proof('A-02') },
    ];
    expect(missingRows(rows, proofs).map((row) => row.id)).toEqual(['A-02']);
    expect(idleProofs(rows, proofs)).toHaveLength(1);
  });

  it('keeps the proofs of one test file when another one is written, and takes back what no longer passes', () => {
    writeProofs('unit', here, [proof('A-01')], root);
    writeProofs('unit', 'test/requirements.ts', [proof('A-02')], root);
    writeProofs('unit', here, [], root);
    expect(readProofs(root).map(({ proof: { id } }) => id)).toEqual(['A-02']);
  });

  it('forgets the proofs of a test file that is gone', () => {
    writeProofs('unit', 'test/requirements/gone.test.ts', [proof('A-01')], root);
    expect(readProofs(root)).toEqual([]);
  });

  it('has no row twice', () => {
    const ids = requirements.map((row) => row.id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });
});
