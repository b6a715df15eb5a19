import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { describe, expect, it } from 'vitest';

const root = resolve('.');
const fixtures = join(root, 'test/boundaries/fixtures');
const { forbidden = [], options = {} } = await extractDepcruiseConfig(join(root, '.dependency-cruiser.cjs'));
const names = forbidden.map((rule) => rule.name ?? '');

/** The names of the rules that the tree below `baseDir` breaks. */
async function broken(baseDir: string): Promise<string[]> {
  const { enhancedResolveOptions = {}, ...rest } = options;
  const tops = ['src', 'native'].filter((top) => existsSync(join(baseDir, top)));
  const { output } = await cruise(tops, { ...rest, baseDir, validate: true, ruleSet: { forbidden } }, enhancedResolveOptions);
  if (typeof output === 'string') throw new Error(output);
  return [...new Set(output.summary.violations.map((violation) => violation.rule.name))];
}

describe('who may import whom', () => {
  it('has a fixture for each rule, and no other fixture', () => {
    expect(readdirSync(fixtures).sort()).toEqual([...names].sort());
  });

  // The bug: a rule whose pattern matches nothing, which is silent and looks like a clean tree.
  it.each(names)('%s refuses its fixture', async (name) => {
    expect(await broken(join(fixtures, name))).toContain(name);
  });

  it('the tree breaks none', async () => {
    expect(await broken(root)).toEqual([]);
  });
});
