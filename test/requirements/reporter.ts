import { mkdirSync, writeFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

/** Writes which requirement ids passed tests proved, per project, for `npm run requirements`. */
export default class RequirementsReporter implements Reporter {
  private readonly proofs = new Map<string, { id: string; test: string; file: string }[]>();

  onTestCaseResult(test: TestCase): void {
    const { verifies, assertions } = test.meta();
    if (test.result().state !== 'passed' || verifies === undefined || (assertions ?? 0) === 0) return;
    const list = this.proofs.get(test.project.name) ?? [];
    for (const id of verifies) list.push({ id, test: test.fullName, file: test.module.relativeModuleId });
    this.proofs.set(test.project.name, list);
  }

  onTestRunEnd(): void {
    mkdirSync('out/requirements', { recursive: true });
    for (const [project, list] of this.proofs) writeFileSync(`out/requirements/${project}.json`, JSON.stringify(list, null, 1));
  }
}
