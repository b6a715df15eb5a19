import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { floatModel } from '../../../src/engine/onnx/rewrite.ts';
import { sourceOf } from '../../../src/engine/onnx/wire.ts';
import { convConstants, onnxBytes, quantisedConv } from '../../helpers/onnxBytes.ts';

/** Numbers for x with two channels. */
const x = new Tensor(
  'float32',
  Float32Array.from({ length: 16 }, (_, i) => Math.sin(i)),
  [1, 2, 8],
);

async function run(bytes: Uint8Array): Promise<number[]> {
  const session = await InferenceSession.create(bytes, { logSeverityLevel: 4 });
  const out = (await session.run({ x }))['y']?.data;
  await session.release();
  if (!(out instanceof Float32Array)) throw new Error('no numbers came out');
  return [...out];
}

describe('a rewritten graph in the library', () => {
  it.each([true, false])('computes the same as before, but for what quantising its input costs (bias: %s)', async (bias) => {
    const bytes = onnxBytes({ nodes: quantisedConv({ bias }), constants: convConstants });
    const { pieces } = floatModel(sourceOf(bytes), { start: 0, end: bytes.length });
    const after = await run(
      Buffer.concat(pieces.map((piece) => (piece instanceof Uint8Array ? piece : bytes.subarray(piece.start, piece.end)))),
    );
    const before = await run(bytes);
    const largest = Math.max(...before.map(Math.abs));
    expect(largest).toBeGreaterThan(0.5);
    expect(after).toHaveLength(before.length);
    for (const [i, value] of after.entries()) expect(Math.abs(value - (before[i] ?? 0))).toBeLessThan(largest * 0.02);
  });
});
