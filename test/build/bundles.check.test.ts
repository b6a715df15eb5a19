import { describe, expect, it } from 'vitest';
import { bundles, modulesOf, strayModules } from '../../build/bundleCheck.mjs';
import { entries } from '../../build/entries.ts';

describe('the built app', () => {
  it.each(bundles(entries))('$name reaches nothing that its process must not hold', ({ name, kind }) => {
    const modules = modulesOf(name);
    expect(modules.some((id) => id.startsWith('src/'))).toBe(true);
    expect(strayModules(kind, modules)).toEqual([]);
  });
});
