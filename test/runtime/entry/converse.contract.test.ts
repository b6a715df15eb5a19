import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Command } from '../../../src/runtime/entry/cli/args.ts';
import type { Reach } from '../../../src/runtime/entry/cli/connect.ts';
import { converseCommand } from '../../../src/runtime/entry/cli/converse.ts';
import type { Io } from '../../../src/runtime/entry/cli/io.ts';
import { createMemoryLine } from '../../../src/runtime/entry/cli/memoryLine.ts';
import { connectToServer, connectVoiceLine } from '../../../src/runtime/http/client.ts';
import { createHttpServer } from '../../../src/runtime/http/server.ts';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { readWav, writeWav } from '../../../src/runtime/speech/wav.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { rms, silence, tone } from '../../helpers/audio.ts';
import { createTestLog, createTestRuntime, type TestRuntime } from '../../helpers/testRuntime.ts';
import { fakeSpeechToText, fakeTextToSpeech, fakeVad } from '../../helpers/voiceFakes.ts';

const clock = createClock();
let folder = '';
let rt: TestRuntime;
let ears: ReturnType<typeof fakeSpeechToText>;
let mouth: ReturnType<typeof fakeTextToSpeech>;
let activity: ReturnType<typeof fakeVad>;
const disposals: (() => Promise<void> | void)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-converse-'));
  [ears, mouth, activity] = [fakeSpeechToText(), fakeTextToSpeech(), fakeVad()];
  const speech = { vad: activity.vad, speechToText: ears.speechToText, textToSpeech: mouth.textToSpeech };
  rt = await createTestRuntime({ speech });
});
afterEach(async () => {
  for (const dispose of disposals.splice(0).reverse()) await dispose();
  await rt[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** How the command reaches a runtime of its own process, and a server. */
const ways: readonly (readonly [string, () => Promise<Reach>])[] = [
  [
    'in this process',
    async () => ({
      client: rt.client,
      async openLine() {
        const { near, far } = createMemoryLine();
        rt.runtime.services.voice.connect(far);
        return near;
      },
    }),
  ],
  [
    'over a server',
    async () => {
      const { router, refusals, services } = rt.runtime;
      const log = createTestLog();
      const common = {
        host: '127.0.0.1',
        port: 0,
        allowedHosts: [],
        allowRemote: false,
        auth: true,
        version: '1',
        instance: 'i',
        pageDir: null,
      };
      const server = createHttpServer({ ...common, clock, log });
      const { url } = await server.listen();
      await server.open({
        router,
        serveVoice: (line) => services.voice.connect(line),
        refusals,
        keys: services.keys,
        readiness: () => ({
          ready: true,
          store: services.store.state.get(),
          engines: [],
          models: { language: { state: 'idle', modelId: null } },
        }),
      });
      disposals.push(() => server.close());
      const { secret } = services.keys.create('test');
      const { client, close } = await connectToServer(url, secret);
      disposals.push(close);
      return { client, openLine: () => connectVoiceLine(url, secret) };
    },
  ],
];

const at = (name: string) => join(folder, name);
const question = async (pcm = tone(300, 900), rate = 16_000) => {
  await writeFile(at('question.wav'), writeWav(pcm, rate));
};

/** Runs the command as `cli.ts` does, with a terminal that keeps what is written. */
function run(reach: Reach, options: { json?: boolean; file?: string; out?: string } = {}) {
  const written = { out: '', err: '' };
  const signals = new Set<(signal: 'SIGINT' | 'SIGTERM') => void>();
  const io: Io = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    terminal: false,
    env: {},
    onSignal(listener) {
      signals.add(listener);
      return () => void signals.delete(listener);
    },
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
  const command: Extract<Command, { name: 'converse' }> = {
    name: 'converse',
    file: options.file ?? at('question.wav'),
    out: options.out ?? at('answer.wav'),
    common: { json: options.json ?? false, data: undefined, offline: false, logLevel: 'info' },
  };
  const ended = converseCommand(command, reach, io, clock);
  ended.catch(() => {});
  const interrupt = () => {
    for (const signal of signals) signal('SIGINT');
  };
  return { ended, written, interrupt };
}

const until = async (check: () => boolean): Promise<void> => {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const phase = () => rt.runtime.services.voice.view.get().phase;

describe.each(ways)('%s', (_way, reach) => {
  it('a question out of a file is heard, answered and spoken into another', async () => {
    await question();
    ears.hears('What is the capital of France?');
    rt.model.play([{ say: 'It is Paris. A city in France.' }]);
    const { ended, written } = run(await reach());
    expect(await ended).toBe(0);
    expect(written.out).toBe('It is Paris. A city in France.\n');
    expect(written.err).toContain('Heard: What is the capital of France?\n');
    expect(written.err).toMatch(/\d\.\d s to first sound; slowest: /);
    const { samples, sampleRate } = readWav(await readFile(at('answer.wav')));
    // The voice of the test says ten milliseconds a letter, without a pause.
    expect([sampleRate, samples.length]).toEqual([16_000, mouth.texts().join('').length * 160]);
    expect(rms(samples)).toBeGreaterThan(0.1);
    expect(phase()).toBe('off');
    const [chat] = await rt.client.sessions.list({}).then(({ sessions }) => sessions);
    if (chat === undefined) throw new Error('the question made no chat');
    const { messages } = await rt.client.turns.history({ sessionId: chat.id });
    expect(messages.map(({ text }) => text)).toEqual(['What is the capital of France?', 'It is Paris. A city in France.']);
  });

  it('as JSON: question, answer, seconds and where the time went', async () => {
    // As another recorder gives it: 44.1 kHz.
    await question(tone(300, 900, 44_100), 44_100);
    ears.hears('How are you?');
    rt.model.play([{ say: 'Very well.' }]);
    const { ended, written } = run(await reach(), { json: true });
    expect(await ended).toBe(0);
    const result = JSON.parse(written.out) as Record<string, unknown>;
    expect(result).toMatchObject({ question: 'How are you?', answer: 'Very well.', seconds: 0.1 });
    expect(result.latency).toMatchObject({ toSoundMs: expect.any(Number), slowest: expect.any(String), marks: { speechEnd: 0 } });
    expect(written.err).toBe('');
    // All of the sound came, at our rate, with the tail of a key that was let go.
    expect(ears.heard[0]?.samples).toBeGreaterThanOrEqual(900 * 16);
  });

  it('a file without a word: NOTHING_HEARD, no chat, no file', async () => {
    await question(silence(600));
    const { ended } = run(await reach());
    await expect(ended).rejects.toMatchObject({ code: 'NOTHING_HEARD' });
    await expect(readFile(at('answer.wav'))).rejects.toThrow();
    expect((await rt.client.sessions.list({})).sessions).toEqual([]);
    expect(phase()).toBe('off');
  });

  it('Ctrl-C while it is answered stops the turn and leaves nothing on', async () => {
    await question();
    ears.hears('Tell me a long story.');
    rt.model.play([{ say: 'Once upon a time ' }, { stall: true }]);
    const { ended, written, interrupt } = run(await reach());
    await until(() => written.out !== '');
    interrupt();
    await expect(ended).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(phase()).toBe('off');
    await expect(readFile(at('answer.wav'))).rejects.toThrow();
    expect(rt.model.calls[0]?.abortSignal?.aborted).toBe(true);
  });
});

describe('faults', () => {
  const reach = ways[0]?.[1] as () => Promise<Reach>;

  it.each([
    ['no recogniser', () => ears.fail(new AppError('ASR_UNAVAILABLE', { reason: 'model-missing', mend: 'install' })), 'ASR_UNAVAILABLE'],
    ['no voice', () => mouth.fail(new AppError('TTS_UNAVAILABLE', { reason: 'model-missing', mend: 'install' })), 'TTS_UNAVAILABLE'],
    ['muted', () => rt.runtime.services.voice.setMuted(true), 'MIC_MUTED'],
  ] as const)('%s', async (_name, cause, code) => {
    await question();
    cause();
    const { ended } = run(await reach());
    await expect(ended).rejects.toMatchObject({ code });
    expect(['off', 'failed']).toContain(phase());
  });

  it('Ctrl-C while the models are loaded', async () => {
    await question();
    ears.shut();
    const { ended, interrupt } = run(await reach());
    await until(() => phase() === 'arming');
    interrupt();
    await expect(ended).rejects.toMatchObject({ code: 'CANCELLED' });
    await until(() => phase() === 'off');
    ears.open();
  });

  it('another page talks: VOICE_BUSY, and it goes on talking', async () => {
    const { near, far } = createMemoryLine();
    let line = '';
    near.onMessage((data) => {
      const message = JSON.parse(String(data)) as { t: string; id: string };
      if (message.t === 'line') line = message.id;
      if (message.t === 'openMic') near.send('{"t":"mic","state":"live","device":""}');
      if (message.t === 'openMic') near.send('{"t":"mic","state":"opened","device":""}');
    });
    rt.runtime.services.voice.connect(far);
    await until(() => line !== '');
    await rt.client.voice.arm({ line });
    await question();
    await expect(run(await reach()).ended).rejects.toMatchObject({ code: 'VOICE_BUSY' });
    expect(phase()).toBe('standby');
  });

  it('no language model: what the chat says', async () => {
    await using bare = await createTestRuntime({
      models: null,
      speech: { vad: activity.vad, speechToText: ears.speechToText, textToSpeech: mouth.textToSpeech },
    });
    await question();
    ears.hears('Is anybody there?');
    const openLine = async () => {
      const { near, far } = createMemoryLine();
      bare.runtime.services.voice.connect(far);
      return near;
    };
    await expect(run({ client: bare.client, openLine }).ended).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
  });

  it('nothing to say aloud in the answer', async () => {
    await question();
    ears.hears('Draw me a smile.');
    rt.model.play([{ say: '\u{1F642}' }]);
    await expect(run(await reach()).ended).rejects.toMatchObject({ code: 'TEXT_UNSPEAKABLE' });
  });

  it('a recogniser that dies while it listens', async () => {
    await question();
    const { ended } = run(await reach());
    await until(() => ears.heard.length > 0);
    ears.fail(new AppError('ASR_FAILED'));
    await expect(ended).rejects.toMatchObject({ code: 'ASR_FAILED' });
  });

  it('a file that is not there, is no WAV, holds no sound, or cannot be written', async () => {
    await question();
    await writeFile(at('text.wav'), 'not a sound');
    await writeFile(at('empty.wav'), writeWav(new Float32Array(0), 16_000).subarray(0, 36));
    await expect(run(await reach(), { file: at('missing.wav') }).ended).rejects.toThrow('could not be read');
    await expect(run(await reach(), { file: at('text.wav') }).ended).rejects.toMatchObject({ code: 'AUDIO_FORMAT_UNSUPPORTED' });
    await expect(run(await reach(), { file: at('empty.wav') }).ended).rejects.toMatchObject({ code: 'INVALID_AUDIO' });
    ears.hears('Hello?');
    rt.model.play([{ say: 'Hello.' }]);
    await expect(run(await reach(), { out: join(folder, 'no', 'such', 'folder.wav') }).ended).rejects.toThrow('could not be written');
    expect(phase()).toBe('off');
  });
});
