import { AppError } from '../../shared/errors/appError.ts';

/**
 * JSON from outside: bounded depth, finite numbers (SV-17). What the fields must be is the contract's business.
 *
 * @throws AppError INVALID_INPUT with reason `not_json`, `depth` or `not_finite`, and the field where one can be named.
 */
export function parseJson(text: string, maxDepth: number): unknown {
  if (depthOf(text, maxDepth) > maxDepth) throw new AppError('INVALID_INPUT', { field: 'body', reason: 'depth' });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('INVALID_INPUT', { field: 'body', reason: 'not_json' });
  }
  const field = firstNotFinite(value, '');
  if (field !== null) throw new AppError('INVALID_INPUT', { field, reason: 'not_finite' });
  return value;
}

/** Counts brackets outside strings, so that a deep text is refused before anything is built from it. */
function depthOf(text: string, enough: number): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === 0x5c) i++;
      else if (c === 0x22) inString = false;
    } else if (c === 0x22) inString = true;
    else if (c === 0x7b || c === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (deepest > enough) return deepest;
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return deepest;
}

/** `1e999` is valid JSON and becomes Infinity. Recursion is bounded by the depth check above. */
function firstNotFinite(value: unknown, path: string): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path === '' ? 'body' : path;
  if (value === null || typeof value !== 'object') return null;
  for (const [key, part] of Object.entries(value)) {
    const found = firstNotFinite(part, path === '' ? key.slice(0, 64) : `${path}.${key.slice(0, 64)}`);
    if (found !== null) return found;
  }
  return null;
}
