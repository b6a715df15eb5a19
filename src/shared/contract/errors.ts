import type { z } from 'zod';
import { codes, type ErrorCode } from '../errors/codes.ts';

type Picked<K extends ErrorCode> = { [P in K]: { status: number; data: (typeof codes)[P]['data'] } };

/**
 * The oRPC error map of a call, from the tables. Every call can fail with the ones in `everywhere` besides.
 *
 * @param names  the typed errors of this call.
 */
export function errors<K extends ErrorCode>(...names: K[]): Picked<K | (typeof everywhere)[number]> {
  const map: Record<string, { status: number; data: z.ZodObject }> = {};
  for (const name of [...everywhere, ...names]) map[name] = { status: codes[name].status, data: codes[name].data };
  return map as Picked<K | (typeof everywhere)[number]>;
}

const everywhere = [
  'INVALID_INPUT',
  'UNAUTHORIZED',
  'SHUTTING_DOWN',
  'CANCELLED',
  'INTERNAL',
  'STORE_BUSY',
  'STORE_IO',
  'STORE_FULL',
  'STORE_READ_ONLY',
] as const satisfies ErrorCode[];
