import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { firstMismatch } from '../../build/support/packages.mjs';
import { speechModels, starterModel } from '../../build/support/starterModel.mjs';

describe('the set-up', () => {
  const wanted = {
    '': {},
    'node_modules/a': { integrity: 'sha512-1' },
    'node_modules/win-only': { integrity: 'sha512-2', optional: true },
  };

  it('takes an install for whole only if each needed package is the locked one', () => {
    expect(firstMismatch(wanted, { 'node_modules/a': { integrity: 'sha512-1' } })).toBeNull();
    expect(firstMismatch(wanted, {})).toBe('node_modules/a');
    expect(firstMismatch(wanted, { 'node_modules/a': { integrity: 'sha512-9' } })).toBe('node_modules/a');
  });

  it('notices an optional package of another version', () => {
    const installed = { 'node_modules/a': { integrity: 'sha512-1' }, 'node_modules/win-only': { integrity: 'sha512-9' } };
    expect(firstMismatch(wanted, installed)).toBe('node_modules/win-only');
  });

  // The bug: tests that accept another file than the one that people get.
  it('checks the test models against the digests of the shipped catalogue', () => {
    const File = z.object({ name: z.string(), sha256: z.string() });
    const Catalogue = z.object({
      entries: z.array(z.object({ id: z.string(), file: File, prepare: z.object({ file: File }).optional() })),
    });
    const { entries } = Catalogue.parse(JSON.parse(readFileSync('resources/catalogue.json', 'utf8')));
    for (const model of [starterModel, ...speechModels]) {
      const entry = entries.find(({ id }) => id === model.id);
      expect(entry?.prepare?.file ?? entry?.file).toMatchObject({ name: model.file, sha256: model.sha256 });
    }
  });
});
