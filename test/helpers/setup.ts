import { afterEach, expect } from 'vitest';

// `npm run requirements` counts a test for an id only if it asserted something.
afterEach((context) => {
  context.task.meta.assertions = expect.getState().assertionCalls;
});
