import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { speechMethods } from '../../src/engine/contract/speech.ts';
import { childEnv } from '../../src/runtime/platform/childEnv.ts';
import { ask, type EngineChild, GENERATION, loadParams, startEngine, textOf } from '../helpers/engineChild.ts';
import { fakeLlama } from '../helpers/fakeLlama.ts';
import { speechModel } from '../helpers/speechModels.ts';
import { fixedQuestions, testModel } from '../helpers/testModel.ts';
import { outside, readTrace, straceOf, type Trace } from '../helpers/trace.ts';
import { verifies } from '../helpers/verifies.ts';

let folder = '';
let data = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-trace-'));
  data = join(folder, 'data');
  for (const name of ['cache/home', 'tmp']) mkdirSync(join(data, name), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Runs an engine as the runtime does, with a fresh home inside the data folder, and gives what it did. */
async function traced(
  key: string,
  work: (engine: EngineChild) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<Trace> {
  const file = join(folder, 'trace');
  const child = { ...childEnv({ cache: join(data, 'cache'), tmp: join(data, 'tmp') }, process.env), ...env };
  await using engine = startEngine(child, { key, wrap: straceOf(file) });
  await work(engine);
  engine.post({ k: 'stop', generation: GENERATION });
  expect(await engine.exit).toEqual({ code: 0, signal: null });
  return readTrace(file);
}

describe('RB-61: what an engine does to the world', () => {
  it('language: a real load and a real answer open no internet socket and write nothing outside the data folder', async () => {
    verifies('RB-61');
    const trace = await traced('language', async (engine) => {
      expect((await engine.call('load', loadParams(testModel()))).error).toBeUndefined();
      expect(textOf((await engine.call('generate', ask(fixedQuestions[3][0]))).chunks)).not.toBe('');
      expect((await engine.call('unload', {})).error).toBeUndefined();
    });
    expect(trace.internetSockets).toEqual([]);
    expect(outside(trace.written, data)).toEqual([]);
  });

  it('probe: a real trial opens no internet socket and writes nothing outside the data folder', async () => {
    verifies('RB-61');
    const trace = await traced('probe', async (engine) => {
      expect((await engine.call('abi', {})).error).toBeUndefined();
      expect((await engine.call('trial', { path: testModel(), threads: 1 })).data).toMatchObject({ tokens: 8 });
    });
    expect(trace.internetSockets).toEqual([]);
    expect(outside(trace.written, data)).toEqual([]);
  });

  it('speech: all three models loaded and used open no internet socket and write nothing outside the data folder', async () => {
    verifies('RB-61');
    const trace = await traced('speech', async (engine) => {
      expect((await engine.call('vad.load', speechModel('vad5'))).error).toBeUndefined();
      expect((await engine.call('asr.load', speechModel('asr'))).error).toBeUndefined();
      expect((await engine.call('tts.load', speechModel('tts'))).error).toBeUndefined();
      expect((await engine.call('vad.frames', { stream: 0, samples: new Float32Array(512) })).error).toBeUndefined();
      const { samples } = speechMethods['tts.speak'].result.parse((await engine.call('tts.speak', { text: 'Good morning.' })).data);
      expect((await engine.call('asr.transcribe', { samples, speech: true })).data).toMatchObject({ verdict: expect.any(String) });
    });
    expect(trace.internetSockets).toEqual([]);
    expect(outside(trace.written, data)).toEqual([]);
  });

  it('an engine that dials out and writes beside the data folder shows both in the same trace', async () => {
    verifies('RB-61');
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    using fake = fakeLlama({ DIAL: port });
    const trace = await traced(
      'language',
      async (engine) => {
        expect((await engine.call('load', loadParams(fake.model))).error).toBeUndefined();
      },
      fake.env,
    );
    server.close();
    expect(trace.internetSockets).toHaveLength(1);
    // The fake's own record of its calls.
    expect(outside(trace.written, data).some((path) => path.startsWith(fake.dir))).toBe(true);
    expect(existsSync(join(fake.dir, 'log', 'calls'))).toBe(true);
  });
});
