import { createPlaybackCore } from '../../../src/renderer/audio/playbackCore.ts';
import { engineSettings, threadsFor } from '../../../src/runtime/engines/settings.ts';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { createMachine } from '../../../src/runtime/platform/machine.ts';
import { createSpeaker } from '../../../src/runtime/voice/speaking/speaker.ts';
import { deferred } from '../../../src/shared/util/deferred.ts';
import { realSpeech } from '../../helpers/realSpeech.ts';
import { testModel } from '../../helpers/testModel.ts';
import { decodeSpeed, type OurEngine, ourEngine } from '../llm/ours.ts';
import type { Notes } from './notes.ts';

const essay = 'Write a long essay about the history of the sea.';
const OUTPUT = 128;
const CONTEXT = 512;
const sentence = 'The weather will be mild in the morning, and then clouds move in from the west and bring some rain.';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
/** As the product would choose for this machine. */
export const chosenThreads = (): number => threadsFor(engineSettings({}, createMachine(), quiet), createMachine());

/** P8: decode speed with our choice of threads while the voice speaks, against the best fixed choice under the same load (recipe R8). */
export async function besideSpeech(rounds: number, note: Notes): Promise<string> {
  const model = testModel();
  const cores = createMachine().logicalCores();
  const chosen = chosenThreads();
  const choices = Array.from({ length: Math.min(cores, 8) }, (_, i) => i + 1);
  await using speech = realSpeech();
  await speech.say('Hello.');
  const engines = new Map<number, OurEngine>();
  try {
    for (const threads of choices) engines.set(threads, await ourEngine(model, threads, CONTEXT));
    const speed = async (threads: number) => {
      const engine = engines.get(threads);
      if (engine === undefined) throw new Error(`no engine with ${threads} threads`);
      return decodeSpeed(await engine.reply(essay, OUTPUT), OUTPUT / 2).perSecond;
    };
    for (let round = 0; round < rounds; round += 1) {
      let over = false;
      const talking = (async () => {
        while (!over) await speech.say(sentence);
      })();
      // The better of two of each, the choices in turn.
      const best = new Map<number, number>();
      for (let sample = 0; sample < 2; sample += 1)
        for (const threads of choices) best.set(threads, Math.max(best.get(threads) ?? 0, await speed(threads)));
      over = true;
      await talking;
      note('P8', (best.get(chosen) ?? 0) / Math.max(...best.values()));
      for (const [threads, perSecond] of best) note(`P8 ${threads}`, perSecond);
    }
  } finally {
    for (const engine of engines.values()) await engine[Symbol.asyncDispose]();
  }
  return `${chosen} of ${choices.join(', ')} threads`;
}

const RATE = 48_000;
const QUANTUM = 128;

/** P23, its other half: an answer that is all written is spoken without a hole while the language model writes on. */
export async function underruns(rounds: number, note: Notes): Promise<void> {
  await using speech = realSpeech();
  await speech.say('Hello.');
  await using engine = await ourEngine(testModel(), chosenThreads(), CONTEXT);
  for (let round = 0; round < rounds; round += 1) {
    let over = false;
    const writing = (async () => {
      while (!over) await engine.reply(essay, OUTPUT);
    })();
    let holes = 0;
    const done = deferred<void>();
    const playback = createPlaybackCore(RATE, QUANTUM, (event) => {
      if (event.type === 'underrun') holes += 1;
      if (event.type === 'drained') done.resolve();
      if (event.type === 'played')
        speaker.played({ phrase: event.phrase, from: event.range.from, to: event.range.to, ms: event.ms }, event.done);
    });
    const speaker = createSpeaker({
      clock: createClock(),
      log: quiet,
      textToSpeech: speech.engines.textToSpeech,
      onChunk: (chunk) => playback.enqueue(chunk),
      onFinish: (generation) => playback.finish(generation),
      onCaption: () => {},
      onMark: () => {},
      onFailed: (error) => done.reject(error),
    });
    const out = new Float32Array(QUANTUM);
    const beganMs = performance.now();
    let quanta = 0;
    const device = setInterval(() => {
      const due = Math.floor(((performance.now() - beganMs) * RATE) / 1_000 / QUANTUM);
      for (; quanta < due; quanta += 1) playback.process(out, quanta * QUANTUM);
    }, 2);
    speaker.begin(round + 1, { voiceId: null, language: 'en', speed: 1 });
    speaker.push(`Well, that is a good question. ${sentence} ${sentence} In the evening it clears up again. Good night.`);
    speaker.end();
    await done.promise;
    clearInterval(device);
    over = true;
    await writing;
    note('P23 underruns', holes);
  }
}
