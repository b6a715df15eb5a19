import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLibraryFile, findLlamaFolder, firstWrongFile } from '../../../native/core/find.ts';
import { Handle, type Pointer } from '../../../native/core/handle.ts';
import { Status, statusError } from '../../../native/core/status.ts';
import { checkSamplerOptions, type SamplerOptions, samplerSteps } from '../../../native/llama/samplerOptions.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { deferred } from '../../../src/shared/util/deferred.ts';
import { verifies } from '../../helpers/verifies.ts';

const pointer = 4096n as Pointer;

describe('ABI-01: a handle', () => {
  it('throws HANDLE_CLOSED after dispose, and frees once', async () => {
    verifies('ABI-01');
    const freed: bigint[] = [];
    const handle = new Handle(pointer, (address) => void freed.push(address));
    expect(handle.use((address) => address)).toBe(pointer);
    await Promise.all([handle.dispose(), handle.dispose()]);
    expect(freed).toEqual([pointer]);
    expect(() => handle.use(() => 1)).toThrow('HANDLE_CLOSED');
    await expect(handle.useAsync(() => Promise.resolve(1))).rejects.toThrow('HANDLE_CLOSED');
  });

  it('dispose waits for the call in flight', async () => {
    verifies('ABI-01');
    const order: string[] = [];
    const handle = new Handle(pointer, () => void order.push('free'));
    const gate = deferred<void>();
    const call = handle.useAsync(async () => {
      await gate.promise;
      order.push('call');
    });
    const disposed = handle.dispose();
    expect(() => handle.use(() => 1)).toThrow('HANDLE_CLOSED');
    gate.resolve();
    await Promise.all([call, disposed]);
    expect(order).toEqual(['call', 'free']);
  });

  it('runs one call at a time, also after one that failed', async () => {
    verifies('ABI-01');
    const handle = new Handle(pointer, () => undefined);
    let running = 0;
    let most = 0;
    const call = async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      throw new Error('no');
    };
    await Promise.allSettled([handle.useAsync(call), handle.useAsync(call), handle.useAsync(call)]);
    expect(most).toBe(1);
    const gate = deferred<void>();
    const held = handle.useAsync(() => gate.promise);
    expect(() => handle.use(() => 1)).toThrow('ENGINE_FAULT');
    gate.resolve();
    await held;
  });

  it('shows no pointer to whoever holds it', () => {
    verifies('ABI-01');
    const handle = new Handle(pointer, () => undefined);
    expect(Object.keys(handle)).toEqual([]);
    expect(JSON.stringify(handle)).not.toContain('4096');
  });
});

it('ABI-09: each status of ours is one error, an unknown one is a fault and never success', () => {
  verifies('ABI-09');
  const code = (status: number) => statusError(status, 'step')?.code;
  expect(code(Status.ok)).toBeUndefined();
  expect([-1, -2, -3, -4, -5, -6, -7].map(code)).toEqual([
    'UNSUPPORTED',
    'INVALID_INPUT',
    'MODEL_FILE_CORRUPT',
    'ENGINE_FAULT',
    'OUT_OF_MEMORY',
    'NATIVE_ABI_MISMATCH',
    'CANCELLED',
  ]);
  expect(statusError(17, 'step')).toMatchObject({ code: 'ENGINE_FAULT', data: { stage: 'step (status 17)' } });
});

describe('finding the library', () => {
  it('takes the folder that a developer names, and says which one is missing', () => {
    expect(findLlamaFolder({ SOTTO_INFERENCE_LIB_DIR: import.meta.dirname })).toMatchObject({ origin: 'override' });
    let error: unknown;
    try {
      findLlamaFolder({ SOTTO_INFERENCE_LIB_DIR: '/nonexistent' });
    } catch (caught) {
      error = caught;
    }
    expect(isAppError(error, 'NATIVE_LIBRARY_MISSING')).toBe(true);
    expect(() => findLibraryFile(import.meta.dirname, 'llama')).toThrow('NATIVE_LIBRARY_MISSING');
  });
});

it('ABI-02: a library file that was exchanged or lost is found before it is loaded', () => {
  verifies('ABI-02');
  const folder = mkdtempSync(join(tmpdir(), 'sotto-hash-'));
  const hash = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
  writeFileSync(join(folder, 'a.so'), 'hello');
  expect(firstWrongFile(folder, { 'a.so': hash })).toBeNull();
  expect(firstWrongFile(folder, { 'a.so': hash, 'b.so': hash })).toEqual({ file: 'b.so', expected: hash, found: 'missing' });
  writeFileSync(join(folder, 'a.so'), 'hullo');
  expect(firstWrongFile(folder, { 'a.so': hash })?.file).toBe('a.so');
  rmSync(folder, { recursive: true });
});

describe('ABI-08: sampling', () => {
  const neutral: SamplerOptions = {
    temperature: 0.7,
    topK: 40,
    topP: 0.9,
    minP: 0.05,
    repeatPenalty: 1.1,
    frequencyPenalty: 0,
    presencePenalty: 0,
    penaltyLastN: 64,
    seed: 1,
  };

  it('is in order: grammar, penalties, top-k, top-p, min-p, temperature, choice', () => {
    verifies('ABI-08');
    expect(samplerSteps({ ...neutral, grammar: 'root ::= "a"' }).map((step) => step.kind)).toEqual([
      'grammar',
      'penalties',
      'topK',
      'topP',
      'minP',
      'temperature',
      'random',
    ]);
  });

  it('leaves out links that change nothing; temperature 0 is greedy', () => {
    verifies('ABI-08');
    const off = { ...neutral, topK: 0, topP: 1, minP: 0, repeatPenalty: 1, temperature: 1 };
    expect(samplerSteps(off).map((step) => step.kind)).toEqual(['random']);
    expect(samplerSteps({ ...neutral, temperature: 0 }).map((step) => step.kind)).toEqual(['penalties', 'greedy']);
  });

  it.each([
    ['temperature', Number.NaN],
    ['temperature', Number.POSITIVE_INFINITY],
    ['temperature', -0.1],
    ['topP', 0],
    ['topP', 1.01],
    ['minP', -1],
    ['topK', 1.5],
    ['topK', -1],
    ['repeatPenalty', 0],
    ['frequencyPenalty', Number.NEGATIVE_INFINITY],
    ['penaltyLastN', -1],
    ['seed', 0xffff_ffff],
    ['seed', Number.NaN],
  ])('refuses %s = %f before the library sees it', (field, value) => {
    verifies('ABI-08');
    let error: unknown;
    try {
      checkSamplerOptions({ ...neutral, [field]: value });
    } catch (caught) {
      error = caught;
    }
    expect(isAppError(error, 'INVALID_INPUT') && error.data['field']).toBe(`sampling.${field}`);
  });
});
