import { msOf, type SoundChunk, type TextRange } from '../../shared/domain/audio.ts';
import { createResampler, type Resampler } from '../../shared/util/resampler.ts';
import { joinSamples } from '../../shared/util/samples.ts';

/** How far the loudspeaker is: in which phrase, on the text of which chunk, and how many ms of that phrase have sounded. */
export type Heard = { readonly generation: number; readonly phrase: number; readonly range: TextRange; readonly ms: number };

type Phrase = {
  readonly generation: number;
  readonly phrase: number;
  readonly rateHz: number;
  readonly resampler: Resampler;
  /** Ends of its chunks in output samples of the phrase. */
  readonly ends: { readonly at: number; readonly range: TextRange }[];
  range: TextRange;
  taken: number;
  played: number;
};

/** Far more than any answer has ahead of it (VO-63 asks for two phrases); beyond it something is wrong. */
const maxQueuedMs = 300_000;
/** Samples that the resampler gets at once; few, so that no quantum computes much more than another. */
const step = 64;

/**
 * Chunks in, samples of the loudspeaker's rate out, one by one. The rate is changed while it sounds, over the joins of the chunks of
 * one phrase as if they were one piece.
 *
 * @param onEnd  the last sample of a chunk was taken.
 */
export function createSpeechQueue(rateHz: number, onEnd: (heard: Heard) => void) {
  const queue: SoundChunk[] = [];
  let queuedMs = 0;
  /** Of the first chunk, already taken. */
  let offset = 0;
  let current: Phrase | null = null;
  /** Whether all that is left of the present phrase is in `ready`. */
  let flushed = false;
  let ready = new Float32Array(0);
  let at = 0;
  let finished = -1;

  const heardOf = (phrase: Phrase): Heard => ({
    generation: phrase.generation,
    phrase: phrase.phrase,
    range: phrase.ends[0]?.range ?? phrase.range,
    ms: msOf(phrase.played, rateHz),
  });
  const endChunks = (phrase: Phrase, upTo: number) => {
    for (let end = phrase.ends[0]; end !== undefined && end.at <= upTo; end = phrase.ends[0]) {
      onEnd(heardOf(phrase));
      phrase.ends.shift();
    }
  };
  const take = (chunk: SoundChunk, phrase: Phrase) => {
    const piece = chunk.pcm.subarray(offset, offset + step);
    offset += piece.length;
    phrase.taken += piece.length;
    phrase.range = chunk.range;
    let made = phrase.resampler.push(piece);
    if (offset >= chunk.pcm.length) {
      phrase.ends.push({ at: Math.ceil((phrase.taken * rateHz) / phrase.rateHz), range: chunk.range });
      queue.shift();
      queuedMs -= msOf(chunk.pcm.length, chunk.rateHz);
      offset = 0;
      if (chunk.last) {
        made = joinSamples([made, phrase.resampler.flush()]);
        flushed = true;
      }
    }
    return made;
  };
  const begin = (chunk: SoundChunk): Phrase => ({
    generation: chunk.generation,
    phrase: chunk.phrase,
    rateHz: chunk.rateHz,
    resampler: createResampler(chunk.rateHz, rateHz),
    ends: [],
    range: chunk.range,
    taken: 0,
    played: 0,
  });
  const refill = (): boolean => {
    while (at >= ready.length) {
      if (current !== null && flushed) {
        // Chunks without a single sample have ended too.
        endChunks(current, Number.POSITIVE_INFINITY);
        current = null;
        flushed = false;
      }
      const head = queue[0];
      if (current === null) {
        if (head === undefined) return false;
        current = begin(head);
      }
      at = 0;
      if (head !== undefined && belongs(head, current)) ready = take(head, current);
      else if (head === undefined && finished < current.generation) {
        ready = new Float32Array(0);
        return false;
      } else {
        // A phrase that no chunk called the last one of ends where another begins, or with the whole answer.
        ready = current.resampler.flush();
        flushed = true;
      }
    }
    return true;
  };
  return {
    /** @returns false when so much waits that this chunk is not taken. */
    push(chunk: SoundChunk): boolean {
      if (queuedMs >= maxQueuedMs) return false;
      queue.push(chunk);
      queuedMs += msOf(chunk.pcm.length, chunk.rateHz);
      return true;
    },
    finish(generation: number): void {
      finished = Math.max(finished, generation);
    },
    isFinished: (generation: number): boolean => finished >= generation,
    /** Forgets everything up to this generation. */
    drop(generation: number): void {
      const kept = queue.filter((chunk) => chunk.generation > generation);
      if (kept[0] !== queue[0]) offset = 0;
      queue.splice(0, queue.length, ...kept);
      queuedMs = kept.reduce((sum, chunk) => sum + msOf(chunk.pcm.length, chunk.rateHz), 0);
      if (current === null || current.generation > generation) return;
      current = null;
      flushed = false;
      ready = new Float32Array(0);
      at = 0;
    },
    /** The next sample, or null when there is none now. */
    next(): number | null {
      if (at >= ready.length && !refill()) return null;
      const sample = ready[at] ?? 0;
      at += 1;
      if (current !== null) {
        current.played += 1;
        endChunks(current, current.played);
      }
      return sample;
    },
    /** Where it stands inside a phrase; null between phrases. */
    heard: (): Heard | null => (current === null || current.played === 0 ? null : heardOf(current)),
    /** Whether nothing more would come if nothing were added. */
    isEmpty: (): boolean => queue.length === 0 && current === null,
  };
}

const belongs = (chunk: SoundChunk, phrase: Phrase) =>
  chunk.generation === phrase.generation && chunk.phrase === phrase.phrase && chunk.rateHz === phrase.rateHz;
