import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readModel } from '../../../src/engine/onnx/graph.ts';
import { prepareFile } from '../../../src/engine/onnx/prepareFile.ts';
import { floatModel } from '../../../src/engine/onnx/rewrite.ts';
import { sourceOf } from '../../../src/engine/onnx/wire.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { convConstants, elements, type GraphSpec, onnxBytes, quantisedConv } from '../../helpers/onnxBytes.ts';

const folder = mkdtempSync(join(tmpdir(), 'sotto-onnx-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rangeOf = (bytes: Uint8Array) => ({ start: 0, end: bytes.length });

/** The new file's bytes. */
function rewritten(bytes: Uint8Array): Uint8Array {
  const { pieces } = floatModel(sourceOf(bytes), rangeOf(bytes));
  return Buffer.concat(pieces.map((piece) => (piece instanceof Uint8Array ? piece : bytes.subarray(piece.start, piece.end))));
}
const nodesOf = (bytes: Uint8Array) => readModel(sourceOf(bytes), rangeOf(bytes)).graph.nodes;
const kindsOf = (bytes: Uint8Array) => nodesOf(bytes).map(({ kind }) => kind);
const model = (change: Partial<GraphSpec> = {}) => onnxBytes({ nodes: quantisedConv(), constants: convConstants, ...change });

describe('integer convolutions become float ones', () => {
  it('one with a bias: weights stay as they are, what was quantised goes straight in, and nothing unused is left', () => {
    const out = rewritten(model());
    const [dequantise, conv, ...more] = nodesOf(out);
    expect(more).toEqual([]);
    expect(dequantise).toMatchObject({ kind: 'DequantizeLinear', inputs: ['w', 'w_s', 'w_z'], outputs: ['w/float'] });
    expect(conv).toMatchObject({ kind: 'Conv', inputs: ['x', 'w/float', 'b'], outputs: ['y'], name: 'ConvInteger of acc' });
    expect(conv?.attributes).toHaveLength(1);
    const { constants, rest } = readModel(sourceOf(out), rangeOf(out)).graph;
    expect(constants.map(({ name }) => name)).toEqual(['w', 'w_s', 'w_z', 'b']);
    // Name, input, output; the note on the shape of what is gone went with it.
    expect(rest).toHaveLength(3);
  });

  it('one without a bias', () => {
    expect(nodesOf(rewritten(model({ nodes: quantisedConv({ bias: false }) })))[1]).toMatchObject({
      kind: 'Conv',
      inputs: ['x', 'w/float'],
    });
  });

  it('two that share their weights get them once, before either', () => {
    const nodes = [...quantisedConv({ output: 'h' }), ...quantisedConv({ input: 'h', tag: '2' })];
    expect(kindsOf(rewritten(model({ nodes })))).toEqual(['DequantizeLinear', 'Conv', 'Conv']);
  });

  it('the same file gives the same bytes, and a rewritten one has nothing left to rewrite', () => {
    const once = rewritten(model());
    expect(Buffer.compare(once, rewritten(model()))).toBe(0);
    expect(() => rewritten(once)).toThrow(expect.objectContaining({ code: 'MODEL_FILE_CORRUPT' }));
  });

  it('what is quantised for others as well stays for them', () => {
    const nodes = [...quantisedConv(), { kind: 'MatMulInteger', in: ['x_q', 'w'], out: ['z'] }];
    expect(kindsOf(rewritten(model({ nodes, outputs: ['y', 'z'] })))).toEqual([
      'DequantizeLinear',
      'DynamicQuantizeLinear',
      'Conv',
      'MatMulInteger',
    ]);
  });

  it.each([
    ['the sum is given away as well', model({ nodes: quantisedConv(), outputs: ['y', 'acc'] })],
    [
      'the bias is no constant',
      model({
        nodes: [{ kind: 'Exp', in: ['x'], out: ['b'] }, ...quantisedConv()],
        constants: convConstants.filter(([name]) => name !== 'b'),
      }),
    ],
    [
      'a scale per channel',
      model({
        constants: convConstants.map(([name, type, dims, bytes]) =>
          name === 'w_s' ? ([name, type, [2], [...bytes, ...bytes]] as const) : ([name, type, dims, bytes] as const),
        ),
      }),
    ],
    [
      'weights of another type',
      model({
        constants: convConstants.map(([name, type, dims, bytes]) => [name, name === 'w' ? elements.float : type, dims, bytes] as const),
      }),
    ],
  ])('it keeps its hands off one that looks otherwise: %s', (_, bytes) => {
    expect(() => rewritten(bytes)).toThrow(expect.objectContaining({ code: 'MODEL_FILE_CORRUPT' }));
    expect(kindsOf(bytes)).toContain('ConvInteger');
  });
});

describe('a file that is not what it should be', () => {
  it.each([
    ['empty', new Uint8Array(0)],
    ['zeros', new Uint8Array(500)],
    ['text', Buffer.from('<!doctype html><title>Sign in</title>'.repeat(20))],
    ['cut short', model().subarray(0, 300)],
    ['no convolution', model({ nodes: [{ kind: 'Relu', in: ['x'], out: ['y'] }] })],
    ['no output', model({ outputs: [] })],
    ['a graph within a graph', model({ nodes: [{ kind: 'If', in: ['x'], out: ['y'], attributes: [[50, 0]] }] })],
    ['a length beyond its end', Uint8Array.from([58, 255, 255, 255, 255, 15, 1])],
    ['a length without an end', Uint8Array.from([58, ...Array.from({ length: 30 }, () => 255)])],
  ])('%s: MODEL_FILE_CORRUPT', (_, bytes) => {
    expect(() => rewritten(bytes)).toThrow(expect.objectContaining({ code: 'MODEL_FILE_CORRUPT' }));
  });

  it('any damage ends as MODEL_FILE_CORRUPT or as a file, never otherwise', () => {
    const good = model();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }), fc.nat(good.length), (hits, end) => {
        const bytes = good.slice(0, end);
        for (const [at, value] of hits) if (at < bytes.length) bytes[at] = value;
        try {
          rewritten(bytes);
        } catch (error) {
          if (!isAppError(error, 'MODEL_FILE_CORRUPT')) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the file on disk', () => {
  const [from, to] = [join(folder, 'from.pack'), join(folder, 'to.pack')];
  const tail = Buffer.alloc(3_000_000, 'style');
  const parts = (bytes: Uint8Array) => [
    { role: 'model', bytes: bytes.length },
    { role: 'style.a', bytes: tail.length },
  ];
  const control = { isCancelled: () => false, onProgress: () => {} };

  it('its part `model` is rewritten, the others are copied; the outcome is named truly, and an old half is written over', () => {
    const bytes = model();
    writeFileSync(from, Buffer.concat([bytes, tail]));
    writeFileSync(to, Buffer.alloc(9_000_000, 'half of an earlier try'));
    const seen: number[] = [];
    const made = prepareFile({ from, to, parts: parts(bytes) }, { ...control, onProgress: (fraction) => seen.push(fraction) });
    const written = readFileSync(to);
    expect(Buffer.compare(written, Buffer.concat([rewritten(bytes), tail]))).toBe(0);
    expect(made.bytes).toBe(written.length);
    expect(made.parts).toEqual([
      { role: 'model', bytes: rewritten(bytes).length },
      { role: 'style.a', bytes: tail.length },
    ]);
    expect(prepareFile({ from, to, parts: parts(bytes) }, control).sha256).toBe(made.sha256);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
  });

  it('stops where it is told to, and the source is untouched', () => {
    const bytes = model();
    const whole = Buffer.concat([bytes, tail]);
    writeFileSync(from, whole);
    let blocks = 0;
    expect(() => prepareFile({ from, to, parts: parts(bytes) }, { ...control, isCancelled: () => ++blocks > 1 })).toThrow(
      expect.objectContaining({ code: 'CANCELLED' }),
    );
    expect(Buffer.compare(readFileSync(from), whole)).toBe(0);
  });

  it.each([
    ['shorter than its parts', () => writeFileSync(from, model())],
    ['gone', () => rmSync(from)],
  ])('%s: MODEL_FILE_CORRUPT', (_, make) => {
    make();
    expect(() => prepareFile({ from, to, parts: parts(model()) }, control)).toThrow(
      expect.objectContaining({ code: 'MODEL_FILE_CORRUPT' }),
    );
  });
});
