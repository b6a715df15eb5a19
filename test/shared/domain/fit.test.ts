import { describe, expect, it } from 'vitest';
import { checkFit, type ModelShape, memoryNeed, modelShape } from '../../../src/shared/domain/fit.ts';
import { readGgufHeader } from '../../../src/shared/domain/gguf.ts';
import { ggufType, ggufWriter, tinyGguf } from '../../helpers/ggufBytes.ts';

const mb = 1024 * 1024;
const smol: ModelShape = {
  architecture: 'llama',
  weightBytes: 92.1 * mb,
  layers: 30,
  heads: 9,
  kvHeads: 3,
  keyDim: 64,
  valueDim: 64,
  feedForward: 1536,
  vocabulary: 49_152,
  merges: 48_900,
  trainedContext: 8192,
  slidingWindow: false,
};
const gemma: ModelShape = {
  architecture: 'gemma3',
  weightBytes: 247.9 * mb,
  layers: 18,
  heads: 4,
  kvHeads: 1,
  keyDim: 256,
  valueDim: 256,
  feedForward: 2048,
  vocabulary: 262_144,
  merges: 0,
  trainedContext: 32_768,
  slidingWindow: true,
};

describe('memory need, against the measured loads of facts/models.md, section 3', () => {
  it.each<[string, ModelShape, number, number, number, number, number]>([
    // model, context → KV, compute, work buffer, measured (all MiB)
    ['SmolLM2', smol, 2048, 45, 46.4, 18, 275],
    ['SmolLM2', smol, 8192, 180, 166.4, 72, 583],
    ['Gemma', gemma, 2048, 36, 33.8, 8, 427],
    ['Gemma', gemma, 8192, 144, 105.8, 32, 639],
  ])('%s with its context full', (_name, shape, contextSize, kv, compute, work, measured) => {
    const need = memoryNeed(shape, { contextSize, microBatch: 512, flashAttention: false });
    expect(need.kv / mb).toBeCloseTo(kv, 5);
    expect(need.work / mb).toBeCloseTo(work, 5);
    expect(Math.abs(need.compute / mb - compute)).toBeLessThan(0.5);
    expect(Math.abs(need.vocabulary / mb - (shape === smol ? 19 : 44))).toBeLessThan(0.5);
    expect(Math.abs(need.total / mb - measured) / measured).toBeLessThan(0.025);
    expect(need.process + need.weights + need.vocabulary + need.kv + need.compute + need.work).toBe(need.total);
  });

  it('a micro-batch of 128 divides compute and work buffer by four, flash attention takes the work buffer away', () => {
    const at = (microBatch: number, flashAttention: boolean) => memoryNeed(smol, { contextSize: 8192, microBatch, flashAttention });
    expect(at(512, false).work / at(128, false).work).toBe(4);
    expect(at(512, false).compute / at(128, false).compute).toBeCloseTo(4, 1);
    expect(at(512, true).work).toBe(0);
  });
});

describe('the gate before a load', () => {
  const need = memoryNeed(smol, { contextSize: 8192, microBatch: 512, flashAttention: false });

  it('says no with figures', () => {
    expect(() => checkFit(need, 400 * mb)).toThrow(
      expect.objectContaining({ code: 'MODEL_DOES_NOT_FIT', data: { needBytes: Math.ceil(need.total), freeBytes: 400 * mb } }),
    );
  });

  it('lets pass what fits, and what nobody can judge', () => {
    expect(() => checkFit(need, 600 * mb)).not.toThrow();
    expect(() => checkFit(need, null)).not.toThrow();
  });
});

describe('the shape of a model', () => {
  const header = (bytes: Uint8Array) =>
    readGgufHeader({ size: bytes.length, read: async (offset, length) => bytes.subarray(offset, offset + length) }, () => 0);

  it('comes from the header, with the defaults of the format', async () => {
    expect(modelShape(await header(tinyGguf({ vocabulary: 7 })))).toMatchObject({
      architecture: 'llama',
      layers: 2,
      heads: 4,
      kvHeads: 4,
      keyDim: 16,
      vocabulary: 7,
      merges: 0,
      slidingWindow: false,
    });
  });

  it.each<[string, number | null, string]>([
    ['layers missing', null, 'MODEL_FILE_CORRUPT'],
    ['0 layers', 0, 'MODEL_FILE_CORRUPT'],
    ['2^31 layers', 2 ** 31, 'MODEL_FILE_CORRUPT'],
  ])('%s is refused', async (_what, layers, code) => {
    const writer = ggufWriter()
      .raw(Buffer.from('GGUF'))
      .u32(3)
      .u64(1)
      .u64(layers === null ? 5 : 6);
    writer.text('general.architecture').u32(ggufType.string).text('llama');
    for (const key of ['embedding_length', 'context_length', 'feed_forward_length', 'attention.head_count']) {
      writer.text(`llama.${key}`).u32(ggufType.u32).u32(8);
    }
    if (layers !== null) writer.text('llama.block_count').u32(ggufType.u32).u32(layers);
    writer.text('w').u32(1).u64(8).u32(0).u64(0);
    writer.raw(new Uint8Array((32 - (writer.length % 32)) % 32)).raw(new Uint8Array(32));
    const read = await header(writer.bytes());
    expect(() => modelShape(read)).toThrow(expect.objectContaining({ code }));
  });
});
