import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeVoiceTemplate } from '../../../e2e/helpers/template.ts';
import { createCaptureCore } from '../../../src/renderer/audio/captureCore.ts';
import type { SpeechToText } from '../../../src/runtime/inference/speechToText.ts';
import type { TextToSpeech } from '../../../src/runtime/inference/textToSpeech.ts';
import type { Vad } from '../../../src/runtime/inference/vad.ts';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { createNodeStarter } from '../../../src/runtime/platform/nodeStarter.ts';
import { createVoice } from '../../../src/runtime/voice/createVoice.ts';
import type { Conversation, VoiceDeps } from '../../../src/runtime/voice/ports.ts';
import { type AudioFrame, audio } from '../../../src/shared/domain/audio.ts';
import { newId } from '../../../src/shared/domain/ids.ts';
import { latencyLine } from '../../../src/shared/domain/voiceLatency.ts';
import { join, pieces, resample, silence, tone } from '../../helpers/audio.ts';
import { type RealSpeech, realSpeech } from '../../helpers/realSpeech.ts';
import { recordings } from '../../helpers/recordings.ts';
import { createTestRuntime } from '../../helpers/testRuntime.ts';
import { fakeChoices, fakeGate } from '../../helpers/voiceFakes.ts';
import { createLinePage } from '../../helpers/voiceLine.ts';
import { cpuMs } from '../llm/ours.ts';
import { watchCalls } from './engineCalls.ts';
import type { Notes } from './notes.ts';
import { timedPage } from './timedPage.ts';

/** Delays of recipe R12, ms. */
const set = { vad: 1, asrFlush: 80, firstToken: 170, token: 18, ttsFirst: 120 } as const;
const TURNS = 10;

const quiet: VoiceDeps['log'] = { info: () => {}, warn: () => {}, error: () => {} };

function stubVad(): Vad {
  const model = { modelId: 'stub', onset: 0.5, offset: 0.35, spare: null };
  return {
    ready: async () => model,
    open: async () => ({
      model,
      async probabilities(samples) {
        await sleep(set.vad);
        return new Float32Array(samples.length / audio.frameSamples).map((_, i) =>
          Math.abs(samples[i * audio.frameSamples + 7] ?? 0) > 0.01 ? 0.9 : 0.05,
        );
      },
      reset: () => {},
      close: async () => {},
    }),
  };
}

const transcript = {
  text: 'What is the capital of France?',
  language: 'en',
  verdict: 'ok',
  averageLogProb: -0.1,
  noSpeechProb: 0,
  words: null,
  durationMs: 1_000,
} as const;

const stubRecogniser: SpeechToText = {
  ready: async () => ({ modelId: 'stub', languages: ['en'] }),
  transcribe: async () => transcript,
  open: () => ({
    feed: () => {},
    async finish() {
      await sleep(set.asrFlush);
      return transcript;
    },
    close: () => {},
  }),
};

const stubVoice: TextToSpeech = {
  voices: () => [],
  ready: async () => ({ modelId: 'stub', sampleRate: 24_000 }),
  async *speak({ text }) {
    await sleep(set.ttsFirst);
    yield { samples: tone(220, 300, 24_000), sampleRate: 24_000, phrase: 0, textRange: [0, text.length] };
  },
};

/** The first phrase is complete with the second token, since a full stop counts only when a space follows. */
const answerTokens = ['Yes.', ' It', ' is.'];

const stubConversation: Conversation = {
  send: ({ sessionId }) => ({ sessionId: sessionId ?? newId('session', Date.now()), turnId: newId('turn', Date.now()) }),
  cancel: () => {},
  async *follow() {
    yield { kind: 'stage', stage: 'reading', fraction: null };
    for (const [i, text] of answerTokens.entries()) {
      await sleep(i === 0 ? set.firstToken : set.token);
      yield { kind: 'delta', text };
    }
    yield { kind: 'ended', how: 'completed' };
  },
  heard: () => {},
};

const stubDeps = () => ({
  clock: createClock(),
  log: quiet,
  vad: stubVad(),
  speechToText: stubRecogniser,
  textToSpeech: stubVoice,
  conversation: stubConversation,
  gate: fakeGate().gate,
  choices: fakeChoices(),
  prewarm: () => {},
  languageModel: () => null,
});

const said = () => tone(300, 700, 48_000);

/** P14: from the last sample to the first sound through the real driver, with ends whose delays are set (recipe R12). */
export async function stubLoop(rounds: number, note: Notes): Promise<void> {
  const critical = audio.tailMs + set.asrFlush + set.firstToken + set.token + set.ttsFirst;
  for (let round = 0; round < rounds; round += 1) {
    await using voice = createVoice(stubDeps());
    using page = await timedPage(voice);
    for (let turn = 0; turn < TURNS; turn += 1) {
      await sleep(200);
      const { waitMs } = await page.ask(said());
      note('P14', waitMs / critical);
      note('P14 overhead', waitMs - critical);
      await page.drained();
    }
  }
}

/** Frames as the capture worklet makes them of a device at 48 kHz, and what that cost: ms of CPU per second of sound. */
function captured(talk: Float32Array): { frames: AudioFrame[]; cpuPerSecond: number } {
  const frames: AudioFrame[] = [];
  const quanta = pieces(talk, 128);
  const own = process.cpuUsage();
  const core = createCaptureCore(48_000, (event) => event.type === 'frame' && frames.push(event.frame));
  core.begin(0);
  for (const quantum of quanta) core.process(quantum, quantum.length);
  const { user, system } = process.cpuUsage(own);
  return { frames, cpuPerSecond: (user + system) / 1_000 / (talk.length / 48_000) };
}

/**
 * P20: what listening costs while somebody talks (recipe R10): the worklet's core, the line, the driver, the activity model in its engine.
 * Frames come one by one in real time. Recogniser and answer stand still.
 */
export async function audioPath(rounds: number, note: Notes): Promise<void> {
  const clip = recordings({ minWords: 6, maxSeconds: 6 })
    .slice(0, 8)
    .flatMap((one) => [one.sound(), silence(400)]);
  const talk = resample(join(...clip).slice(0, 20 * 16_000), 16_000, 48_000);
  await using speech = realSpeech();
  captured(talk);
  for (let round = 0; round < rounds; round += 1) {
    const { frames, cpuPerSecond } = captured(talk);
    await using voice = createVoice({ ...stubDeps(), vad: speech.engines.vad });
    const page = createLinePage(voice);
    await sleep(50);
    await voice.arm({ line: page.id(), mode: 'push-to-talk' });
    page.press();
    await sleep(200);
    const pid = speech.pids.at(-1) ?? 0;
    const [own, engine, beganMs] = [process.cpuUsage(), cpuMs(pid), performance.now()];
    for (const [i, { samples }] of frames.entries()) {
      const waitMs = beganMs + i * 32 - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      page.say(samples);
    }
    const { user, system } = process.cpuUsage(own);
    const seconds = (performance.now() - beganMs) / 1_000;
    const [inPage, inRuntime, inEngine] = [cpuPerSecond / 10, (user + system) / 10_000 / seconds, (cpuMs(pid) - engine) / 10 / seconds];
    note('P20', inPage + inRuntime + inEngine);
    note('P20 page', inPage);
    note('P20 runtime', inRuntime);
    note('P20 engine', inEngine);
  }
}

/** A question whose answer needs a sentence, as a person would hold the key for it. */
const question = 'Tell me something about the sea.';

/** P15: the same with every real model, over what the engines themselves say that they took, and the tail. */
export async function realLoop(rounds: number, note: Notes): Promise<void> {
  const dataDir = mkdtempSync(joinPath(tmpdir(), 'sotto-bench-voice-'));
  try {
    await makeVoiceTemplate(dataDir, new Map());
    const calls = watchCalls(createNodeStarter({ here: import.meta.url }));
    await using rt = await createTestRuntime({ models: 'engine', starter: calls.starter, dataDir, catalogue: await shipped() });
    await rt.runtime.ready;
    const talk = resample(await questionSound(), 16_000, 48_000);
    // Loading has its own bench; on a busy machine it outlasts what arming waits for.
    const { vad, speechToText, textToSpeech } = rt.runtime.services.engines;
    const { signal } = new AbortController();
    for (const port of [vad, speechToText, textToSpeech]) await port.ready({ signal });
    using page = await timedPage(rt.runtime.services.voice);
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < 3; turn += 1) {
        await sleep(500);
        calls.clear();
        const { waitMs } = await page.ask(talk);
        await page.drained();
        // The first turn loads the language model.
        if (round + turn === 0) continue;
        const engines = calls.sum();
        note('P15', waitMs / (audio.tailMs + engines.totalMs));
        note('P15 wait', waitMs);
        for (const [stage, ms] of Object.entries(engines.stages)) note(`P15 ${stage}`, ms);
        const [record] = rt.runtime.services.voice.latency(1).records;
        const marks = record === undefined ? '' : JSON.stringify(record.marks);
        console.error(`P15: ${Math.round(waitMs)} ms; ${JSON.stringify(engines)}; ${marks} ${record && latencyLine(record).slowest}`);
      }
    }
    note('P15 underruns', page.underruns());
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function questionSound(): Promise<Float32Array<ArrayBuffer>> {
  await using speech: RealSpeech = realSpeech();
  return join(await speech.say(question), silence(30));
}

async function shipped(): Promise<unknown> {
  return JSON.parse(await readFile('resources/catalogue.json', 'utf8'));
}
