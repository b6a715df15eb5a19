import { TestRunner } from 'vitest';
import type { RequirementId } from '../requirements.ts';

declare module 'vitest' {
  interface TaskMeta {
    verifies?: string[];
    assertions?: number;
  }
}

/**
 * Says inside a running test which requirement rows it proves. `npm run requirements` believes it only if the test passed, asserted,
 * and is of the row's level.
 *
 * @param ids  ids of `test/requirements.ts`.
 */
export function verifies(...ids: RequirementId[]): void {
  const task = TestRunner.getCurrentTest();
  if (task === undefined) throw new Error('verifies() belongs inside a running test');
  task.meta.verifies = [...(task.meta.verifies ?? []), ...ids];
}
