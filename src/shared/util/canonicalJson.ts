/**
 * JSON in the one form of RFC 8785: no spaces, members sorted by UTF-16 units, numbers and strings as ECMAScript writes them. Absent
 * (`undefined`) members are left out, as in JSON.
 *
 * @throws TypeError for what JSON cannot say: NaN and infinities, lone surrogates, functions, cycles, bigints.
 * @source RFC 8785, sections 3.2.2 and 3.2.3.
 */
export function canonicalJson(value: unknown): string {
  return write(value, []);
}

function write(value: unknown, parents: readonly object[]): string {
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('not a JSON number');
      return JSON.stringify(value);
    case 'string':
      // Outside the u flag a lone surrogate would match half of a pair.
      if (/\p{Surrogate}/u.test(value)) throw new TypeError('a lone surrogate has no UTF-8 form');
      return JSON.stringify(value);
    case 'object':
      break;
    default:
      throw new TypeError(`${typeof value} is not JSON`);
  }
  if (value === null) return 'null';
  if (parents.includes(value)) throw new TypeError('a cycle is not JSON');
  const below = [...parents, value];
  if (Array.isArray(value)) return `[${value.map((item: unknown) => write(item, below)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${members.map(([name, member]) => `${write(name, below)}:${write(member, below)}`).join(',')}}`;
}
