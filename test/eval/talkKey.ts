import { type CaptureEvent, createCaptureCore } from '../../src/renderer/audio/captureCore.ts';
import { audio, samplesOf } from '../../src/shared/domain/audio.ts';
import type { BenchRow } from '../bench/report.ts';
import { createChance } from '../crash/chance.ts';
import { find, join, noise, resample } from '../helpers/audio.ts';
import { realSpeech } from '../helpers/realSpeech.ts';
import { type Recording, recordings } from '../helpers/recordings.ts';
import { foldedWords } from '../helpers/wordErrors.ts';
import type { EvalOptions } from './report.ts';
import { chosen } from './sounds.ts';
import { shareInterval95 } from './statistics.ts';
import { createTalker } from './talker.ts';

type Sound = Float32Array<ArrayBuffer>;

/** Of the device. */
const RATE = 48_000;
const QUANTUM = 128;
const EDGE = 0.02;
/** How much of the first word must have come whole: its onset, which is what gets lost. */
const ONSET_MS = 150;
const ALIKE = 0.95;

export type Press = {
  readonly recording: Recording;
  /** When speech begins, in ms after key-down; before it if negative. For a cold microphone: it begins at the cue. */
  readonly lateMs: number;
  /** The device is opened by the press and gives zeros for its first 700 ms (VO-111). */
  readonly cold: boolean;
};

export type Pressed = {
  /** All that was sent for this press: 16 kHz. */
  readonly sound: Sound;
  /** The onset of the first word is in it. */
  readonly whole: boolean;
};

/**
 * Presses spread by chance: speech from 300 ms before to 500 ms after key-down, a quarter of them with a cold microphone.
 *
 * @param count  of presses.
 */
export function presses(count: number, seed: number): Press[] {
  const chance = createChance(seed);
  const clips = chosen(recordings({ minWords: 2, maxSeconds: 4 }), count, seed);
  return Array.from({ length: count }, (_, i) => ({
    recording: clips[i % clips.length] as Recording,
    lateMs: Math.round(chance() * 800) - 300,
    cold: i % 4 === 3,
  }));
}

/** What was said, from its first audible sample to its last. 16 kHz. */
function speechOf(recording: Recording): Sound {
  const sound = recording.sound();
  const isLoud = (x: number) => Math.abs(x) > EDGE;
  return sound.slice(Math.max(0, sound.findIndex(isLoud)), sound.findLastIndex(isLoud) + 1);
}

/**
 * One press, as the page has it: the capture worklet's own core over a scripted device, 128 samples at a time.
 *
 * @param options.mostMs  of what is said; the onset is what this is about.
 */
export function press(
  { recording, lateMs, cold }: Press,
  seed: number,
  { mostMs = 4_000, preRollMs = audio.preRollMs }: { mostMs?: number; preRollMs?: number } = {},
): Pressed {
  const events: CaptureEvent[] = [];
  const core = createCaptureCore(RATE, (event) => events.push(event));
  const clip = speechOf(recording).slice(0, samplesOf(mostMs, audio.rateHz));
  const speech = resample(clip, audio.rateHz, RATE);
  // Longer than the ring, so that the press comes at any place of it.
  const downMs = cold ? 0 : 1_300 + (seed % 97);
  const room = noise(-60, downMs + 1_500, RATE, seed);
  const zeros = cold ? samplesOf(700, RATE) : 0;
  const down = samplesOf(downMs, RATE);
  let begin: number | null = cold ? null : down + samplesOf(lateMs, RATE);
  let isEnding = false;
  let ended = false;
  for (let at = 0; !ended; at += QUANTUM) {
    if (at <= down && at + QUANTUM > down) core.begin(preRollMs);
    // The cue: the first frame that is not all zeros (VO-07). Who waits for it begins to speak now.
    if (begin === null && events.some((event) => event.type === 'frame' && !event.frame.zero)) begin = at;
    const from = begin ?? Number.POSITIVE_INFINITY;
    const quantum = Float32Array.from({ length: QUANTUM }, (_, i) =>
      at + i < zeros ? 0 : (room[(at + i) % room.length] ?? 0) + (at + i >= from ? (speech[at + i - from] ?? 0) : 0),
    );
    core.process(quantum, QUANTUM);
    // The key goes up with the last sound, never before the time that makes it a hold.
    if (!isEnding && begin !== null && at >= Math.max(begin + speech.length, down + samplesOf(320, RATE))) {
      isEnding = true;
      core.end(audio.tailMs);
    }
    ended = events.at(-1)?.type === 'ended';
  }
  const sound = join(...events.flatMap((event) => (event.type === 'frame' ? [event.frame.samples] : [])));
  // Through the device and back, as the sound itself went: an "s" has much that 16 kHz can just not carry.
  const onset = resample(speech, RATE, audio.rateHz).slice(0, samplesOf(ONSET_MS, audio.rateHz));
  return { sound, whole: find(onset, sound).likeness > ALIKE };
}

/** VO-111. */
export async function evaluate({ seed, count }: EvalOptions): Promise<BenchRow[]> {
  const all = presses(count ?? 200, seed);
  await using speech = realSpeech();
  await using talker = await createTalker(speech.engines);
  let [lost, cold, otherwise] = [0, 0, 0];
  for (const [i, one] of all.entries()) {
    const { sound, whole } = press(one, seed + i);
    if (!whole) lost += 1;
    if (one.cold) cold += 1;
    const text = (await talker.press(sound)) ?? '';
    const ideal = (await talker.press(one.recording.sound())) ?? '';
    if (foldedWords(text)[0] !== foldedWords(ideal)[0]) {
      otherwise += 1;
      console.error(`${i}: ${one.cold ? 'cold' : `${one.lateMs} ms`} · ${ideal} · ${text}`);
    }
  }
  const row = (what: string, hits: number, goal: string): BenchRow => {
    const { low, high } = shareInterval95(hits, all.length);
    return {
      id: 'VO-111',
      what,
      value: hits,
      unit: 'words',
      against: `${all.length - cold} presses with speech −300 … +500 ms, ${cold} with a cold microphone`,
      goal,
      better: 'lower',
      runs: all.length,
      min: low * all.length,
      max: high * all.length,
    };
  };
  return [
    row('first words whose onset was not sent', lost, '≤ 0'),
    // Not a loss by itself: other sound around a word makes another word of it now and then.
    row('first words understood otherwise than in the whole recording', otherwise, ''),
  ];
}
