import { createHash } from 'node:crypto';
import { canonicalJson } from '../../shared/util/canonicalJson.ts';

/** SHA-256, lower-case hex, over canonical JSON in UTF-8 (GE-03). */
export function digest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
}
