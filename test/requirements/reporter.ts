import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Level } from '../requirements.ts';
import { writeProofs } from './proofs.ts';

const levels: readonly string[] = ['unit', 'contract', 'store', 'process', 'native', 'page', 'e2e', 'check'] satisfies Level[];
const isLevel = (name: string): name is Level => levels.includes(name);

/** Writes which requirement ids a test file's passed tests proved, for `npm run requirements`. The project is the level. */
export default class RequirementsReporter implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    // Tests of rules run with the unit tests, but what they prove holds for the whole tree, not for a function.
    const level = /^test\/(boundaries|lint)\//.test(module.relativeModuleId) ? 'check' : module.project.name;
    if (!isLevel(level)) return;
    const proofs = [...module.children.allTests('passed')].flatMap((test) => proofsOf(test));
    writeProofs(level, module.relativeModuleId, proofs);
  }
}

function proofsOf(test: TestCase): { id: string; test: string }[] {
  const { verifies = [], assertions = 0 } = test.meta();
  return assertions === 0 ? [] : [...new Set(verifies)].map((id) => ({ id, test: test.fullName }));
}
