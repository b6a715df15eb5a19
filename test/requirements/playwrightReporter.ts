import { relative } from 'node:path';
import type { FullConfig, Reporter, TestCase, TestResult, TestStep } from '@playwright/test/reporter';
import { writeProofs } from './proofs.ts';

const asserted = (steps: readonly TestStep[]): boolean => steps.some((step) => step.category === 'expect' || asserted(step.steps));

/**
 * Writes which requirement ids the passed end-to-end tests proved. A test names them by annotations
 * `{ type: 'verifies', description: 'UX-52' }`, several in one description separated by spaces or commas.
 */
export default class RequirementsReporter implements Reporter {
  private readonly byFile = new Map<string, { id: string; test: string }[]>();

  printsToStdio(): boolean {
    return false;
  }

  onBegin(_config: FullConfig): void {
    this.byFile.clear();
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const file = relative(process.cwd(), test.location.file);
    const list = this.byFile.get(file) ?? [];
    this.byFile.set(file, list);
    if (result.status !== 'passed' || !asserted(result.steps)) return;
    for (const { type, description = '' } of result.annotations) {
      if (type !== 'verifies') continue;
      for (const id of description.split(/[\s,]+/).filter((part) => part !== ''))
        list.push({ id, test: test.titlePath().join(' ').trim() });
    }
  }

  onEnd(): void {
    for (const [file, proofs] of this.byFile) writeProofs('e2e', file, proofs);
  }
}
