import { agentErrors } from './agent.ts';
import { commonErrors } from './common.ts';
import { downloadErrors } from './downloads.ts';
import { engineErrors } from './engine.ts';
import type { ErrorRow } from './row.ts';
import { serverErrors } from './server.ts';
import { storeErrors } from './store.ts';

/** Every code that can cross a boundary, from the table of its domain. */
export const codes = {
  ...commonErrors,
  ...storeErrors,
  ...agentErrors,
  ...engineErrors,
  ...downloadErrors,
  ...serverErrors,
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof codes;
