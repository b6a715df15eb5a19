/** Why an input was refused (SV-17). `format`: a text that is not of the wanted form. */
export type InputFault = { readonly field: string; readonly reason: InputReason };
export type InputReason = 'missing' | 'unknown' | 'type' | 'range' | 'not_finite' | 'depth' | 'format' | 'not_json';

/** Nesting of an input, and how many values it may hold; both far above what any call needs. */
export const inputLimits = { depth: 64, values: 1_000_000, fieldCharacters: 128 } as const;

/**
 * Looks for what no schema should ever see: nesting over 64 (a cycle is one), keys that reach for a prototype, numbers that are not
 * finite, functions and symbols. The schemas then check the rest. Without this a cycle would end as a stack overflow.
 *
 * @returns the first fault, or `null`.
 */
export function inputFault(input: unknown): InputFault | null {
  let left: number = inputLimits.values;
  const visit = (value: unknown, path: string, depth: number): InputFault | null => {
    left -= 1;
    if (left < 0) return { field: '', reason: 'range' };
    switch (typeof value) {
      case 'number':
        return Number.isFinite(value) ? null : { field: path, reason: 'not_finite' };
      case 'bigint':
      case 'function':
      case 'symbol':
        return { field: path, reason: 'type' };
      case 'object':
        break;
      default:
        return null;
    }
    if (value === null || ArrayBuffer.isView(value)) return null;
    if (depth >= inputLimits.depth) return { field: path, reason: 'depth' };
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const fault = visit(value[i], join(path, String(i)), depth + 1);
        if (fault !== null) return fault;
      }
      return null;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    // A Map, a Date, a class: nothing in the contract takes one.
    if (prototype !== null && prototype !== Object.prototype && !isForeignPlain(prototype)) return { field: path, reason: 'type' };
    for (const key of Object.keys(value)) {
      if (key === '__proto__' || key === 'constructor' || key === 'prototype') return { field: join(path, key), reason: 'unknown' };
      const fault = visit(Reflect.get(value, key), join(path, key), depth + 1);
      if (fault !== null) return fault;
    }
    return null;
  };
  return visit(input, '', 0);
}

/** `a.b.0`, cut to a length that fits a message. */
export function join(path: string, key: string): string {
  return (path === '' ? key : `${path}.${key}`).slice(0, inputLimits.fieldCharacters);
}

/** `Object.prototype` of another realm (jsdom, a frame): it has no prototype of its own. */
function isForeignPlain(prototype: unknown): boolean {
  return typeof prototype === 'object' && prototype !== null && Object.getPrototypeOf(prototype) === null;
}
