import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gguf } from '@huggingface/gguf';
import { describe, expect, it } from 'vitest';
import { inspectModelFile } from '../../../src/runtime/models/inspect.ts';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { createFiles } from '../../../src/runtime/platform/files.ts';
import { memoryNeed, modelShape } from '../../../src/shared/domain/fit.ts';

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
const file = join(cache, 'sotto', 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
const isThere = existsSync(file);
if (!isThere) console.warn('SKIPPED: the real model is not in the cache; npm run setup brings it');

describe.skipIf(!isThere)('our header reader on the real model', () => {
  it('agrees with the oracle on every key, every tensor and the place of the data', async () => {
    const ours = await inspectModelFile(createFiles(), file, createClock());
    const oracle = await gguf(file, { allowLocalFile: true });
    const known = Object.entries(oracle.metadata).filter(([key]) => key !== 'version' && key !== 'tensor_count' && key !== 'kv_count');
    expect([...ours.metadata.keys()].sort()).toEqual(known.map(([key]) => key).sort());
    for (const [key, value] of known) {
      const own = ours.metadata.get(key);
      if (Array.isArray(value)) {
        expect(own).toMatchObject({ length: value.length });
        if (typeof own === 'object') expect(own.first).toEqual(value.slice(0, own.first.length));
      } else expect(own, key).toEqual(value);
    }
    expect(ours.tensors.map(({ name, offset }) => ({ name, offset }))).toEqual(
      oracle.tensorInfos.map(({ name, offset }) => ({ name, offset: Number(offset) })),
    );
    for (const [i, tensor] of ours.tensors.entries()) {
      expect(tensor.dimensions.map(BigInt)).toEqual(oracle.tensorInfos[i]?.shape.map(BigInt));
    }
    expect(BigInt(ours.dataOffset)).toBe(oracle.tensorDataOffset);
    expect(ours.dataOffset + ours.weightBytes).toBeLessThanOrEqual(ours.fileBytes);
  });

  it('gives the measured memory of facts/models.md within 2 %', async () => {
    const shape = modelShape(await inspectModelFile(createFiles(), file, createClock()));
    for (const [contextSize, measured] of [
      [2048, 275],
      [8192, 583],
    ] as const) {
      const { total } = memoryNeed(shape, { contextSize, microBatch: 512, flashAttention: false });
      expect(Math.abs(total / 2 ** 20 / measured - 1)).toBeLessThan(0.02);
    }
  });
});
