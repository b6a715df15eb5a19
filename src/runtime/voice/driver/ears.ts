import { type AudioFrame, audio, msOf } from '../../../shared/domain/audio.ts';
import { AppError, isAppError, toAppError } from '../../../shared/errors/appError.ts';
import { detach } from '../../../shared/util/detach.ts';
import {
  type LiveTranscription,
  type PartialTranscript,
  pieceSeconds,
  type SpeechToText,
  type Transcript,
} from '../../inference/speechToText.ts';
import type { VadModel, VadStream } from '../../inference/vad.ts';
import type { Clock, Logger } from '../../platform/ports.ts';
import { createLoudness, rmsOf } from '../hearing/loudness.ts';
import { createSegmenter, type SegmentEvent } from '../hearing/segments.ts';
import { createSieve } from '../hearing/sieve.ts';
import { voiceLimits as limits } from '../limits.ts';

const frameMs = msOf(audio.frameSamples, audio.rateHz);
/** VO-02: how far the activity model may be behind; what is older is not judged any more. */
const behindMs = audio.waitingFrames * frameMs;
/** What the activity port takes at once. */
const batchFrames = 64;
/** So many are judged together: a call costs several times what the model does (P20), and 64 ms decide nothing. */
const togetherFrames = 3;
/** Less speech than this is a click, and no word is to be found in it. */
const clickFrames = 3;

/** Of an utterance that was ended. */
export type Heard = {
  readonly transcript: Transcript;
  readonly soundMs: number;
  /** null: nothing could tell. */
  readonly voicedMs: number | null;
  readonly level: number | null;
  readonly floor: number | null;
};

type Utterance = {
  readonly number: number;
  readonly live: LiveTranscription;
  readonly stop: AbortController;
  readonly sieve: ReturnType<typeof createSieve>;
  readonly segmenter: ReturnType<typeof createSegmenter>;
  readonly loudness: ReturnType<typeof createLoudness>;
  frames: number;
  voiced: number;
  lastVoicedMs: number | null;
};

type Waiting = { readonly utterance: Utterance; readonly samples: Float32Array<ArrayBuffer>; readonly atMs: number };

/** From the frames of the microphone to who speaks when, and to words. One utterance at a time. */
export type Ears = {
  /** What decides that somebody speaks; null: nothing does, and all sound goes to the recogniser. */
  use(activity: { stream: VadStream; model: VadModel } | null): void;
  open(utterance: number): void;
  frame(frame: AudioFrame): void;
  /**
   * No more sound comes: waits until all of it was judged, and reads it.
   *
   * @throws AppError as `LiveTranscription.finish`; CANCELLED after `close`.
   */
  finish(): Promise<Heard>;
  close(): void;
  /** When the last voiced frame came, on the monotonic clock; null: none did. */
  lastVoicedMs(): number | null;
  level(): number | null;
  /** Sound of the present utterance that is still to be read at its end, at most. */
  unreadMs(): number;
  /** Frames that were too old to be judged. */
  skipped(): number;
};

export function createEars(deps: {
  clock: Clock;
  log: Logger;
  speechToText: SpeechToText;
  on: {
    segment(event: SegmentEvent, probabilities: readonly number[]): void;
    partial(utterance: number, partial: PartialTranscript): void;
    /** The activity model failed; the utterance goes on without it. */
    activityLost(error: AppError): void;
  };
}): Ears {
  const { clock, log, speechToText, on } = deps;
  let activity: { stream: VadStream; model: VadModel; stop: AbortController } | null = null;
  let now: Utterance | null = null;
  /** The last one that was ended or is open: its figures are asked for later. */
  let last: Utterance | null = null;
  let waiting: Waiting[] = [];
  let judging: Promise<void> | null = null;
  let judged: Utterance | null = null;
  let skipped = 0;
  /** No more frames come: what waits is judged, few as they are. */
  let draining = false;
  const isEnough = () => waiting.length >= (draining ? 1 : togetherFrames);
  /** The newest probabilities, for the gate of VO-37. */
  let recent: number[] = [];

  /** @param probability  null: nobody judged it; it goes the way of the one before. */
  function take({ utterance, samples, atMs }: Waiting, probability: number | null): void {
    if (utterance !== now) return;
    const rms = rmsOf(samples);
    utterance.loudness.add(rms);
    const { segmenter } = utterance;
    if (probability !== null) {
      recent = [...recent.slice(-5), probability];
      for (const event of segmenter.push(probability, rms)) {
        if (event.type === 'speech-start') utterance.sieve.speechBegins();
        on.segment(event, recent);
        // What was told may have ended it.
        if (utterance !== now) return;
      }
      if (segmenter.speaks()) {
        utterance.voiced += 1;
        utterance.lastVoicedMs = atMs;
        utterance.loudness.voiced(rms);
      }
    }
    utterance.sieve.judge(samples, segmenter.pauseMs());
  }

  /** Without anything that could tell, all sound counts. */
  function takeBlind({ utterance, samples }: Waiting): void {
    if (utterance !== now) return;
    utterance.loudness.add(rmsOf(samples));
    utterance.sieve.judge(samples, 0);
  }

  function batch(): Waiting[] {
    const first = waiting[0];
    if (first === undefined) return [];
    const other = waiting.findIndex(({ utterance }) => utterance !== first.utterance);
    return waiting.splice(0, Math.min(batchFrames, other === -1 ? waiting.length : other));
  }

  function skipOld(): void {
    const oldest = clock.monotonicMs() - behindMs;
    for (let first = waiting[0]; first !== undefined && first.atMs < oldest; first = waiting[0]) {
      waiting.shift();
      skipped += 1;
      take(first, null);
    }
  }

  async function judge(by: NonNullable<typeof activity>): Promise<void> {
    while (isEnough() && activity === by) {
      skipOld();
      const some = batch();
      const utterance = some[0]?.utterance;
      if (utterance === undefined) return;
      if (utterance !== now) continue;
      if (judged !== utterance) by.stream.reset();
      judged = utterance;
      const samples = new Float32Array(some.length * audio.frameSamples);
      for (const [i, one] of some.entries()) samples.set(one.samples, i * audio.frameSamples);
      let probabilities: Float32Array;
      try {
        probabilities = await by.stream.probabilities(samples, { signal: by.stop.signal });
      } catch (error) {
        if (activity !== by) return;
        activity = null;
        for (const one of [...some, ...waiting.splice(0)]) takeBlind(one);
        if (!isAppError(error, 'CANCELLED')) on.activityLost(toAppError(error));
        return;
      }
      for (const [i, one] of some.entries()) take(one, probabilities[i] ?? 0);
    }
  }

  function run(): void {
    if (judging !== null || activity === null || !isEnough()) return;
    const mine = judge(activity).finally(() => {
      judging = null;
      run();
    });
    judging = mine;
    detach(mine, log, 'voice.activity');
  }

  function stop(): void {
    if (now === null) return;
    now.stop.abort();
    now.live.close();
    now = null;
    waiting = [];
  }

  return {
    use(next) {
      activity?.stop.abort();
      activity = next === null ? null : { ...next, stop: new AbortController() };
      judged = null;
      for (const one of waiting.splice(0)) takeBlind(one);
    },
    open(number) {
      stop();
      draining = false;
      const stopping = new AbortController();
      const { onset, offset } = activity?.model ?? { onset: limits.vadOnset, offset: limits.vadOffset };
      const live = speechToText.open({
        signal: stopping.signal,
        onPartial: (partial) => {
          if (now?.number === number) on.partial(number, partial);
        },
      });
      now = {
        number,
        live,
        stop: stopping,
        sieve: createSieve((samples) => live.feed(samples)),
        segmenter: createSegmenter({ ...limits, frameMs, onset, offset }),
        loudness: createLoudness(),
        frames: 0,
        voiced: 0,
        lastVoicedMs: null,
      };
      last = now;
    },
    frame({ samples }) {
      if (now === null) return;
      now.frames += 1;
      const one = { utterance: now, samples, atMs: clock.monotonicMs() };
      if (activity === null) return takeBlind(one);
      waiting.push(one);
      run();
    },
    async finish() {
      const mine = now;
      if (mine === null) throw new AppError('CANCELLED');
      draining = true;
      run();
      while (judging !== null) await judging;
      if (mine !== now) throw new AppError('CANCELLED');
      mine.sieve.end();
      const told = activity !== null;
      const transcript = await mine.live.finish({ speech: mine.voiced >= clickFrames });
      return {
        transcript,
        soundMs: mine.frames * frameMs,
        voicedMs: told ? mine.voiced * frameMs : null,
        level: mine.loudness.level(),
        floor: mine.loudness.floor(),
      };
    },
    close: stop,
    lastVoicedMs: () => last?.lastVoicedMs ?? null,
    level: () => last?.loudness.level() ?? null,
    unreadMs: () => Math.min(pieceSeconds.max * 1_000, (now?.frames ?? 0) * frameMs),
    skipped: () => skipped,
  };
}
