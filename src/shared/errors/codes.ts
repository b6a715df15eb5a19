import { agentErrors } from './agent.ts';
import { commonErrors } from './common.ts';
import { downloadErrors } from './downloads.ts';
import { engineErrors } from './engine.ts';
import type { ErrorRow } from './row.ts';
import { serverErrors } from './server.ts';
import { speechErrors } from './speech.ts';
import { storeErrors } from './store.ts';
import { voiceErrors } from './voice.ts';

/** Every code that can cross a boundary, from the table of its domain. */
export const codes = {
  ...commonErrors,
  ...storeErrors,
  ...agentErrors,
  ...engineErrors,
  ...downloadErrors,
  ...serverErrors,
  ...voiceErrors,
  ...speechErrors,
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof codes;
