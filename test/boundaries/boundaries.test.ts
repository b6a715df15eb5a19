import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { cruise, type ICruiseOptions, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const RuleFile = z.looseObject({
  forbidden: z.array(z.looseObject({ name: z.string() })),
  options: z.looseObject({ enhancedResolveOptions: z.looseObject({}) }),
});
const root = resolve('.');
const fixtures = join(root, 'test/boundaries/fixtures');
const { forbidden, options } = RuleFile.parse(createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')));
const names = forbidden.map((rule) => rule.name);

/** The names of the rules that the tree below `baseDir` breaks. */
async function broken(baseDir: string): Promise<string[]> {
  const { enhancedResolveOptions, ...rest } = options;
  const settings: ICruiseOptions = { ...rest, baseDir, validate: true, ruleSet: { forbidden } as IFlattenedRuleSet };
  const tops = ['src', 'native'].filter((top) => existsSync(join(baseDir, top)));
  const { output } = await cruise(tops, settings, enhancedResolveOptions);
  if (typeof output === 'string') throw new Error(output);
  return violationsOf(output);
}

const violationsOf = (result: ICruiseResult) => [...new Set(result.summary.violations.map((violation) => violation.rule.name))];

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
