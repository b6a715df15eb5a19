import { type LineUp, type LineWire, parseLineDown } from '../../../shared/contract/voiceLine.ts';
import { audio, msOf, type SoundChunk, samplesOf } from '../../../shared/domain/audio.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import { decodeChunk, encodeFrame } from '../../../shared/util/audioWire.ts';
import type { Clock } from '../../../shared/util/clock.ts';
import { deferred } from '../../../shared/util/deferred.ts';
import { resample } from '../../../shared/util/resampler.ts';
import { joinSamples } from '../../../shared/util/samples.ts';

/** What the runtime calls the microphone in what it says of it. */
const device = 'sound file';

type Heard = Extract<LineUp, { t: 'played' }>['heard'];

/** A person on a voice line who has a sound for a microphone, and for a loudspeaker one that plays everything at once. */
export type LineCaller = {
  /** The line's id. @throws AppError RUNTIME_UNAVAILABLE if it ends before it has one. */
  readonly id: Promise<string>;
  /**
   * Holds the talk key and says all of this, as fast as it was recorded. Resolves when its end has been sent.
   *
   * @param sound  Float32Array[n] at 16 kHz.
   * @throws AppError RUNTIME_UNAVAILABLE if the line is gone, CANCELLED after `close`.
   */
  say(sound: Float32Array): Promise<void>;
  /** All that was spoken so far; null: nothing. */
  spoken(): { readonly samples: Float32Array<ArrayBuffer>; readonly rateHz: number } | null;
  close(): void;
};

export function createLineCaller({ wire, clock }: { wire: LineWire; clock: Clock }): LineCaller {
  const id = deferred<string>();
  const gone = deferred<never>();
  // Whoever waits sees it; perhaps nobody does.
  for (const promise of [id.promise, gone.promise]) promise.catch(() => {});
  const end = (error: AppError) => {
    id.reject(error);
    gone.reject(error);
  };
  const up = (message: LineUp) => wire.send(JSON.stringify(message));

  let seq = 0;
  let isLive = false;
  /** What the runtime wants of the microphone; `end` may come before all is said. */
  let begun = deferred<void>();
  let capture: 'off' | 'on' | 'over' = 'off';

  function sendFrame(samples: Float32Array<ArrayBuffer>): void {
    const zero = samples.every((sample) => sample === 0);
    if (!zero && !isLive) {
      isLive = true;
      up({ t: 'mic', state: 'live', device });
    }
    const clipped = samples.some((sample) => Math.abs(sample) >= audio.clipAt);
    wire.send(encodeFrame({ seq, captureMs: msOf(seq * audio.frameSamples, audio.rateHz), clipped, zero, gap: false, samples }));
    seq += 1;
  }

  function finishCapture(tailMs: number): void {
    if (capture !== 'on') return;
    capture = 'over';
    const frames = Math.ceil(samplesOf(tailMs, audio.rateHz) / audio.frameSamples);
    for (let i = 0; i < frames; i += 1) sendFrame(new Float32Array(audio.frameSamples));
    up({ t: 'ended' });
  }

  const chunks: SoundChunk[] = [];
  let stopped = -1;
  let heard: { readonly generation: number; readonly heard: Heard } | null = null;

  function play(chunk: SoundChunk): void {
    const { generation, phrase, range } = chunk;
    if (generation <= stopped) return;
    chunks.push(chunk);
    const before = heard?.generation === generation && heard.heard.phrase === phrase ? heard.heard.ms : 0;
    heard = { generation, heard: { phrase, ...range, ms: before + msOf(chunk.pcm.length, chunk.rateHz) } };
    up({ t: 'played', ...heard, done: true });
  }

  function take(text: string): void {
    const message = parseLineDown(text);
    switch (message.t) {
      case 'line':
        return id.resolve(message.id);
      case 'openMic':
        isLive = false;
        return up({ t: 'mic', state: 'opened', device });
      case 'closeMic':
        capture = 'off';
        return up({ t: 'mic', state: 'closed', device });
      case 'begin':
        finishCapture(0);
        capture = 'on';
        return begun.resolve();
      case 'end':
        return finishCapture(message.tailMs);
      case 'finish':
        if (message.generation > stopped) up({ t: 'drained', generation: message.generation });
        return;
      case 'stop':
        stopped = Math.max(stopped, message.generation);
        return up({ t: 'stopped', generation: message.generation, heard: heard?.generation === message.generation ? heard.heard : null });
      // Nothing here can be seen, or be silent for a while.
      case 'cue':
      case 'pause':
      case 'resume':
        return;
    }
  }

  wire.onClose(() => end(new AppError('RUNTIME_UNAVAILABLE')));
  wire.onMessage((data) => {
    try {
      if (typeof data === 'string') take(data);
      else if (data instanceof Uint8Array) play(decodeChunk(data));
    } catch (cause) {
      end(new AppError('RUNTIME_UNAVAILABLE', {}, { cause }));
      wire.close('bad');
    }
  });

  async function say(sound: Float32Array): Promise<void> {
    begun = deferred<void>();
    up({ t: 'key', key: 'talk', down: true, sessionId: null });
    await Promise.race([begun.promise, gone.promise]);
    const startedMs = clock.monotonicMs();
    for (let at = 0; at < sound.length && capture === 'on'; at += audio.frameSamples) {
      const frame = new Float32Array(audio.frameSamples);
      frame.set(sound.subarray(at, at + audio.frameSamples));
      sendFrame(frame);
      // As fast as it was said: what listens has no more room than for a person, and the times of the record are those of one.
      const waitMs = startedMs + msOf(at + audio.frameSamples, audio.rateHz) - clock.monotonicMs();
      if (waitMs > 0) await Promise.race([new Promise<void>((resolve) => void clock.setTimer(waitMs, resolve)), gone.promise]);
    }
    up({ t: 'key', key: 'talk', down: false, sessionId: null });
  }

  return {
    id: id.promise,
    say,
    spoken() {
      const first = chunks.find(({ pcm }) => pcm.length > 0);
      if (first === undefined) return null;
      const { rateHz } = first;
      const parts = chunks.map(({ pcm, rateHz: rate }) => (rate === rateHz || pcm.length === 0 ? pcm : resample(pcm, rate, rateHz)));
      return { samples: joinSamples(parts), rateHz };
    },
    close() {
      end(new AppError('CANCELLED'));
      wire.close('over');
    },
  };
}
