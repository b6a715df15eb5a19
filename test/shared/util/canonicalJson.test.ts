import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digest } from '../../../src/runtime/store/digest.ts';
import { canonicalJson } from '../../../src/shared/util/canonicalJson.ts';
import { verifies } from '../../helpers/verifies.ts';

const double = (hex: string): number => new DataView(Uint8Array.from(Buffer.from(hex, 'hex')).buffer).getFloat64(0);

describe('canonical JSON', () => {
  it('GE-03: the example of RFC 8785, section 3.2.4, byte for byte', () => {
    verifies('GE-03');
    const input = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\\"\/',
      literals: [null, true, false],
    };
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('GE-03: members sorted by UTF-16 units (section 3.2.3)', () => {
    verifies('GE-03');
    const input = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.keys(JSON.parse(canonicalJson(input))).length).toBe(7);
    expect([...canonicalJson(input).matchAll(/:"([^"]+)"/g)].map((match) => match[1])).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('GE-03: the number samples of appendix B', () => {
    verifies('GE-03');
    const samples: [string, string][] = [
      ['0000000000000000', '0'],
      ['8000000000000000', '0'],
      ['0000000000000001', '5e-324'],
      ['8000000000000001', '-5e-324'],
      ['7fefffffffffffff', '1.7976931348623157e+308'],
      ['4340000000000000', '9007199254740992'],
      ['4430000000000000', '295147905179352830000'],
      ['44b52d02c7e14af5', '9.999999999999997e+22'],
      ['44b52d02c7e14af6', '1e+23'],
      ['44b52d02c7e14af7', '1.0000000000000001e+23'],
      ['444b1ae4d6e2ef4e', '999999999999999700000'],
      ['444b1ae4d6e2ef4f', '999999999999999900000'],
      ['444b1ae4d6e2ef50', '1e+21'],
      ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
      ['3eb0c6f7a0b5ed8d', '0.000001'],
      ['41b3de4355555553', '333333333.3333332'],
      ['becbf647612f3696', '-0.0000033333333333333333'],
    ];
    for (const [bits, text] of samples) expect([bits, canonicalJson(double(bits))]).toEqual([bits, text]);
  });

  it('GE-03: refuses what has no JSON form, lone surrogates and cycles included', () => {
    verifies('GE-03');
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 'a\ud800b', { '\udfff': 1 }, undefined, () => 1, 1n, loop])
      expect(() => canonicalJson(wrong)).toThrow(TypeError);
    const shared = { x: 1 };
    expect(canonicalJson([shared, shared, { absent: undefined }])).toBe('[{"x":1},{"x":1},{}]');
  });

  it('GE-03: order of members never matters, and it is JSON; the digest is SHA-256 in lower-case hex', () => {
    verifies('GE-03');
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, noUnicodeString: false }), (value) => {
        fc.pre(JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/.test(JSON.stringify(value)));
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
    expect(digest({ b: 1, a: [] })).toBe(digest({ a: [], b: 1 }));
    // echo -n '{"a":1}' | sha256sum
    expect(digest({ a: 1 })).toBe('015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862');
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
