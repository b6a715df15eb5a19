import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav } from '../../../src/runtime/speech/wav.ts';
import { speechModelPath } from '../../helpers/speechModels.ts';
import { testModel } from '../../helpers/testModel.ts';
import { foldedErrors } from '../../helpers/wordErrors.ts';
import { runSotto, startServe, startSotto } from '../http/sottoProcess.ts';

// The real command line with the real models, in a data folder of its own: what a person without a page does.
const spoken = 'What is the capital of France?';
let folder = '';
let data = '';
const errorRate = (said: string, heard: string) => {
  const { errors, words } = foldedErrors(said, heard);
  return errors / words;
};
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-converse-'));
  data = file('data');
  const models = {
    'smollm2-135m-instruct-q4_1': testModel(),
    'moonshine-tiny': speechModelPath('asr'),
    'piper-en-us-joe': speechModelPath('tts'),
    'silero-vad-v5': speechModelPath('vad5'),
  };
  const given = Object.entries(models).map(([id, path]) => `${id}=${path}`);
  await promisify(execFile)(process.execPath, [
    'e2e/helpers/makeTemplate.ts',
    data,
    ...given,
    ...['--say', `${file('question.wav')}=${spoken}`],
  ]);
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const ask = (out: string, ...more: string[]) => ['converse', '--in', file('question.wav'), '--out', file(out), '--data', data, ...more];

it('in its own process: a spoken question is understood, answered in words, and the answer is in the file as speech', async () => {
  const { code, out, err } = await runSotto(ask('answer.wav', '--json'));
  expect(err).toBe('');
  expect(code).toBe(0);
  const { question, answer, seconds, latency } = JSON.parse(out) as {
    question: string;
    answer: string;
    seconds: number;
    latency: { marks: Record<string, number> };
  };
  expect(errorRate(spoken, question)).toBeLessThanOrEqual(0.25);
  expect(answer).toMatch(/Paris/);
  for (const mark of ['asrFinal', 'committed', 'contextReady', 'firstToken', 'firstAudioMade', 'firstAudioPlayed', 'drained'])
    expect(latency.marks[mark]).toBeGreaterThanOrEqual(0);
  const { samples, sampleRate } = readWav(await readFile(file('answer.wav')));
  expect(samples.length / sampleRate).toBeCloseTo(seconds);

  const heard = await runSotto(['transcribe', file('answer.wav'), '--data', data]);
  // That it is this speech and no other; how well it is understood is for `npm run eval`.
  expect(errorRate(answer, heard.out)).toBeLessThanOrEqual(0.5);
});

it('over a running server, and Ctrl-C there stops what it began and leaves the server as it was', async () => {
  await using server = await startServe(data);
  const { code, out, err } = await runSotto(ask('again.wav'));
  expect(code).toBe(0);
  expect(out).toMatch(/Paris/);
  expect(err).toMatch(/^Heard: .*France/m);
  expect(err).toMatch(/s to first sound; slowest: /);
  expect((await stat(file('again.wav'))).size).toBeGreaterThan(10_000);

  const stopped = startSotto(ask('never.wav'));
  // It says what it heard when the turn has begun.
  await new Promise<void>((resolve) => stopped.child.stderr?.on('data', (text: string) => text.includes('Heard:') && resolve()));
  stopped.child.kill('SIGINT');
  expect((await stopped.ended).code).toBe(130);
  await expect(stat(file('never.wav'))).rejects.toThrow();
  expect(await fetch(new URL('/health', server.url)).then((reply) => reply.status)).toBe(200);
  // Nobody holds the voice: the next one gets it.
  expect((await runSotto(ask('last.wav', '--json'))).code).toBe(0);
});
