import { join, noise } from '../../helpers/audio.ts';
import { bareMoonshine, barePiper, piperFront } from '../../helpers/bareSpeech.ts';
import { type RealSpeech, realSpeech } from '../../helpers/realSpeech.ts';
import { recordings } from '../../helpers/recordings.ts';
import { cpuMs } from '../llm/ours.ts';
import type { Notes } from './notes.ts';
import { javascriptPeer, vadPeer } from './peers.ts';

const { signal } = new AbortController();

/** Recorded speech of this length: as many prompts as it takes. */
function speechOf(seconds: number): Float32Array<ArrayBuffer> {
  const parts: Float32Array[] = [];
  for (const recording of recordings({ minWords: 6, maxSeconds: 6 })) {
    parts.push(recording.sound());
    if (parts.reduce((sum, part) => sum + part.length, 0) >= seconds * 16_000) break;
  }
  return join(...parts).slice(0, seconds * 16_000);
}

type Cost = { readonly wallMs: number; readonly cpuMs: number };

/** What a piece of work costs, in this process and in the engine's. */
async function costOf(speech: RealSpeech | null, work: () => Promise<unknown>): Promise<Cost> {
  const pid = speech?.pids.at(-1) ?? null;
  const engine = () => (pid === null ? 0 : cpuMs(pid));
  const [wall, own, theirs] = [performance.now(), process.cpuUsage(), engine()];
  await work();
  const { user, system } = process.cpuUsage(own);
  return { wallMs: performance.now() - wall, cpuMs: (user + system) / 1_000 + engine() - theirs };
}

/** Ours before and after the peer's two: a machine that slows down is then on nobody's side. The better of two counts on both sides. */
async function compared(ours: () => Promise<Cost>, theirs: () => Promise<Cost>): Promise<{ wall: number; cpu: number }> {
  const first = await ours();
  const [one, other] = [await theirs(), await theirs()];
  const second = await ours();
  return {
    wall: Math.min(first.wallMs, second.wallMs) / Math.min(one.wallMs, other.wallMs),
    cpu: Math.min(first.cpuMs, second.cpuMs) / Math.min(one.cpuMs, other.cpuMs),
  };
}

/** P18: the recogniser's call through our port, against its own two sessions on the same clip (recipe R15). */
export async function recogniser(rounds: number, note: Notes): Promise<void> {
  await using speech = realSpeech();
  const bare = await bareMoonshine();
  const clips = [2, 5, 10].map((seconds) => ({ seconds, clip: speechOf(seconds) }));
  await speech.engines.speechToText.ready({ signal });
  for (const { clip } of clips) await bare.transcribe(clip);
  for (let round = 0; round < rounds; round += 1) {
    for (const { seconds, clip } of clips) {
      const { wall, cpu } = await compared(
        () => costOf(speech, () => speech.engines.speechToText.transcribe(clip, { signal, speech: true })),
        () => costOf(null, () => bare.transcribe(clip)),
      );
      note(`P18 ${seconds} s`, wall);
      note(`P18 ${seconds} s cpu`, cpu);
    }
  }
  await bare.release();
}

/** P19: a frame of the activity model through our port, against the same model in Python (recipe R10). */
export async function activity(rounds: number, note: Notes): Promise<string> {
  const frames = 3_000;
  const samples = join(speechOf(60), noise(-50, 40_000)).slice(0, frames * 512);
  using peer = await vadPeer(samples);
  using older = await javascriptPeer(samples, 'vad4');
  await using speech = realSpeech();
  const stream = await speech.engines.vad.open({ signal });
  const ours = () =>
    costOf(speech, async () => {
      stream.reset();
      for (let at = 0; at < samples.length; at += 1_000 * 512) await stream.probabilities(samples.slice(at, at + 1_000 * 512), { signal });
    });
  await ours();
  for (let round = 0; round < rounds; round += 1) {
    const before = await ours();
    const other = await peer.run();
    const after = await ours();
    const spare = await older.run();
    note('P19 vad-node', (Math.min(before.wallMs, after.wallMs) * 1_000) / frames / spare.wallUs);
    note('P19', (Math.min(before.wallMs, after.wallMs) * 1_000) / frames / other.wallUs);
    note('P19 cpu', (Math.min(before.cpuMs, after.cpuMs) * 1_000) / frames / other.cpuUs);
    note('P19 µs', (Math.min(before.wallMs, after.wallMs) * 1_000) / frames);
  }
  await stream.close();
  return peer.name;
}

/** Short, middling, and as long as one phrase gets: characters (recipe R16). */
const phrases = {
  12: 'Yes they do.',
  60: 'The next train to the city leaves in about twenty minutes.',
  160: 'Temperatures throughout northern Scandinavia remained considerably below their seasonal averages because unusually persistent easterly winds transported cold air.',
} as const;
/** Until WebAssembly and buffers are as they stay. */
const WARM = 4;

/**
 * P23: the first sound of a phrase through our port, against the bare engines: eSpeak NG and the network, called one after the other. Told
 * beside it: against the network alone, its phonemes ready.
 */
export async function firstChunk(rounds: number, note: Notes): Promise<void> {
  await using speech = realSpeech();
  const [bare, front] = [await barePiper(), await piperFront()];
  const ours = async (text: string) => {
    const stream = speech.engines.textToSpeech.speak({ text }, { signal });
    const cost = await costOf(speech, () => stream.next());
    if ((await stream.next()).done !== true) throw new Error('more than one phrase: the figure would mean nothing');
    return cost;
  };
  const texts = [];
  for (const [length, text] of Object.entries(phrases)) {
    texts.push({ length, text, ids: await front(text) });
    for (let i = 0; i < WARM; i += 1) {
      await ours(text);
      await bare.speak(await front(text));
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { length, text, ids } of texts) {
      const both = await compared(
        () => ours(text),
        () => costOf(null, async () => bare.speak(await front(text))),
      );
      note(`P23 ${length}`, both.wall);
      note(`P23 ${length} cpu`, both.cpu);
      const network = await compared(
        () => ours(text),
        () => costOf(null, () => bare.speak(ids)),
      );
      note(`P23 ${length} network`, network.wall);
    }
  }
  await bare.release();
}

/** ABI-13: a frame of the activity model while the recogniser and the voice work in the same engine. One frame each 32 ms, as they come. */
export async function underLoad(rounds: number, note: Notes): Promise<void> {
  await using speech = realSpeech();
  const stream = await speech.engines.vad.open({ signal });
  const clip = speechOf(10);
  await speech.engines.speechToText.ready({ signal });
  await speech.engines.textToSpeech.ready({ signal });
  for (let round = 0; round < rounds; round += 1) {
    let over = false;
    const busy = [
      (async () => {
        while (!over) await speech.engines.speechToText.transcribe(clip, { signal, speech: true });
      })(),
      (async () => {
        while (!over) await speech.say(phrases[60]);
      })(),
    ];
    const answers: number[] = [];
    const beganMs = performance.now();
    for (let i = 0; i < 300; i += 1) {
      const waitMs = beganMs + i * 32 - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const startMs = performance.now();
      await stream.probabilities(clip.slice(i * 512, (i + 1) * 512), { signal });
      answers.push(performance.now() - startMs);
    }
    over = true;
    await Promise.all(busy);
    const sorted = answers.toSorted((a, b) => a - b);
    note('ABI-13 p99', sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN);
    note('ABI-13 p50', sorted[Math.ceil(sorted.length * 0.5) - 1] ?? Number.NaN);
  }
  await stream.close();
}
