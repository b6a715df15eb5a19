import { type SoundChunk, samplesOf } from '../../shared/domain/audio.ts';
import { createSpeechQueue, type Heard } from './speechQueue.ts';

/** What the playback worklet tells the page. `frame` is the loudspeaker's own clock: sample frames of its context. */
export type PlaybackEvent =
  /** So much of a phrase has left for the loudspeaker; `done`: the whole chunk with this text. */
  | ({ readonly type: 'played'; readonly done: boolean; readonly frame: number } & Heard)
  /** From this frame on there is nothing but zeros. `heard` is the last that sounded, null if nothing ever did. */
  | { readonly type: 'stopped'; readonly frame: number; readonly heard: Heard | null }
  | { readonly type: 'paused'; readonly frame: number }
  /** All of this generation has sounded, and `finish` said that no more of it comes. */
  | { readonly type: 'drained'; readonly generation: number; readonly frame: number }
  /** The next chunk is late: silence in the middle of an answer. */
  | { readonly type: 'underrun'; readonly frame: number }
  /** So much waits that a chunk was not taken. */
  | { readonly type: 'refused'; readonly generation: number; readonly phrase: number };

export type PlaybackCore = {
  enqueue(chunk: SoundChunk): void;
  /** No more chunks of this generation will come. */
  finish(generation: number): void;
  /** Silence within one quantum; everything up to this generation is forgotten, now and when it comes late. */
  stop(generation: number): void;
  /** Silence within one quantum; the place is kept. */
  pause(): void;
  resume(): void;
  /** Fills one quantum. @param frame its first sample frame on the loudspeaker's clock. */
  process(out: Float32Array, frame: number): void;
};

const progressMs = 100;

/**
 * What the playback worklet does, without the worklet.
 *
 * @param rateHz   of the loudspeaker's context; chunks of other rates are brought to it while they sound.
 * @param quantum  samples that `process` fills. Every change of gain takes at most so many: short enough to be at once, long enough
 *                 not to click.
 */
export function createPlaybackCore(rateHz: number, quantum: number, emit: (event: PlaybackEvent) => void): PlaybackCore {
  let mode: 'run' | 'pausing' | 'paused' | 'stopping' = 'run';
  let stoppedUpTo = -1;
  let drainedUpTo = -1;
  let toDrain = -1;
  let gain = 0;
  let now = 0;
  /** What the loudspeaker got last; it fades out from there when there is nothing more. */
  let lastOut = 0;
  let fade = 0;
  let sounding = false;
  let heard: Heard | null = null;
  let untilProgress = 0;
  const queue = createSpeechQueue(rateHz, (end) => {
    heard = end;
    untilProgress = samplesOf(progressMs, rateHz);
    emit({ type: 'played', ...end, done: true, frame: now });
  });

  const progress = () => {
    untilProgress -= 1;
    if (untilProgress > 0) return;
    untilProgress = samplesOf(progressMs, rateHz);
    heard = queue.heard() ?? heard;
    if (heard !== null) emit({ type: 'played', ...heard, done: false, frame: now });
  };
  const sample = (): number => {
    const next = queue.next();
    if (next !== null) {
      if (!sounding) untilProgress = samplesOf(progressMs, rateHz);
      sounding = true;
      lastOut = next * gain;
      progress();
      return lastOut;
    }
    if (sounding) {
      sounding = false;
      fade = quantum;
      const generation = queue.heard()?.generation ?? heard?.generation ?? -1;
      if (!queue.isFinished(generation)) emit({ type: 'underrun', frame: now });
    }
    gain = 0;
    if (fade > 0) fade -= 1;
    return (lastOut * fade) / quantum;
  };
  const silent = () => {
    sounding = false;
    gain = 0;
    fade = 0;
    lastOut = 0;
  };
  const stopped = () => {
    heard = queue.heard() ?? heard;
    queue.drop(stoppedUpTo);
    mode = 'run';
    silent();
    emit({ type: 'stopped', frame: now, heard });
    heard = null;
  };
  const step = (): number => {
    if (mode === 'paused') return 0;
    if (mode === 'run') {
      gain = Math.min(1, gain + 1 / quantum);
      return sample();
    }
    gain -= 1 / quantum;
    // The last step of the ramp may miss zero by a rounding.
    if (gain > 1e-6) return sample();
    if (mode === 'stopping') stopped();
    else {
      mode = 'paused';
      silent();
      emit({ type: 'paused', frame: now });
    }
    return 0;
  };
  return {
    enqueue(chunk) {
      if (chunk.generation <= stoppedUpTo) return;
      if (!queue.push(chunk)) emit({ type: 'refused', generation: chunk.generation, phrase: chunk.phrase });
    },
    finish(generation) {
      queue.finish(generation);
      toDrain = Math.max(toDrain, generation);
    },
    stop(generation) {
      stoppedUpTo = Math.max(stoppedUpTo, generation);
      drainedUpTo = Math.max(drainedUpTo, generation);
      // A stop that comes late finds a newer answer sounding: that one goes on.
      if ((queue.heard()?.generation ?? -1) <= generation) {
        mode = 'stopping';
        return;
      }
      queue.drop(generation);
      emit({ type: 'stopped', frame: now, heard: null });
    },
    pause() {
      if (mode === 'run') mode = 'pausing';
    },
    resume() {
      if (mode !== 'stopping') mode = 'run';
    },
    process(out, frame) {
      for (let i = 0; i < out.length; i += 1) {
        now = frame + i;
        out[i] = step();
      }
      if (toDrain > drainedUpTo && queue.isEmpty() && mode === 'run') {
        drainedUpTo = toDrain;
        emit({ type: 'drained', generation: toDrain, frame: now });
      }
    },
  };
}
