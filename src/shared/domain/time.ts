import { z } from 'zod';

/** RFC 3339, UTC, milliseconds (GE-02). */
export const Timestamp = z.iso.datetime({ precision: 3 });
export type Timestamp = string;

export function timestamp(ms: number): Timestamp {
  return new Date(ms).toISOString();
}
