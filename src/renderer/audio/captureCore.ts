import { type AudioFrame, audio, msOf, samplesOf } from '../../shared/domain/audio.ts';
import { followSignal, initialSignal, type Level, measureFrame, noiseFloor } from '../../shared/domain/voiceSignal.ts';
import { createResampler } from '../../shared/util/resampler.ts';

/** What the capture worklet tells the page. A frame's samples are the receiver's own. */
export type CaptureEvent =
  /** Of each frame that came, also of those that nobody asked for. */
  | { readonly type: 'level'; readonly level: Level }
  | { readonly type: 'frame'; readonly frame: AudioFrame }
  /** Nothing more comes of what `begin` opened; all of it is in the `frames` frames before. */
  | { readonly type: 'ended'; readonly frames: number };

export type CaptureCounts = {
  /** Samples of the device that were looked at at all. */
  readonly taken: number;
  readonly nonFinite: number;
  readonly sent: number;
  /** What lies in buffers right now. */
  readonly held: number;
};

export type CaptureCore = {
  /** @param pcm one quantum of the device, or null when none came: that time counts as lost. */
  process(pcm: Float32Array | null, quantum: number): void;
  /** Frames go out from now on, those of the last `preRollMs` first; never one that went out before. */
  begin(preRollMs: number): void;
  /** Frames go out until `tailMs` more have been heard. */
  end(tailMs: number): void;
  /**
   * Forgets what is held and takes no further sample, for ever.
   *
   * @param keep  whether the last, unfinished frame of what is being said still goes out, filled up with zeros: yes when a device is
   *              lost, no at a mute.
   */
  close(keep: boolean): void;
  counts(): CaptureCounts;
};

type Held = Omit<AudioFrame, 'seq'>;

/**
 * What the capture worklet does, without the worklet: repairs what the device gives, brings it to 16 kHz, cuts it into frames, keeps
 * the last second in a ring, and sends while asked to.
 *
 * @param rateHz  of the device's context.
 * @param emit    is called in order, from inside `process` and the other calls.
 */
export function createCaptureCore(rateHz: number, emit: (event: CaptureEvent) => void): CaptureCore {
  const ringFrames = Math.ceil(samplesOf(audio.ringMs, audio.rateHz) / audio.frameSamples);
  const frameMs = msOf(audio.frameSamples, audio.rateHz);
  let signal = initialSignal;
  const resampler = createResampler(rateHz, audio.rateHz);
  const blocker = createOffsetBlocker();
  const ring: Held[] = [];
  let open = fresh();
  let filled = 0;
  /** The sample clock in ms: what was made, and what was lost. */
  let clockMs = 0;
  let closed = false;
  let gap = false;
  let seq = 0;
  let sending: { sent: number; untilMs: number | null } | null = null;
  const totals = { taken: 0, nonFinite: 0, sent: 0 };

  const send = (held: Held) => {
    if (sending === null) return;
    sending.sent += 1;
    totals.sent += held.samples.length;
    emit({ type: 'frame', frame: { seq, ...held } });
    seq = (seq + 1) >>> 0;
  };
  const finish = () => {
    if (sending === null) return;
    const frames = sending.sent;
    sending = null;
    emit({ type: 'ended', frames });
  };
  const levelOf = (held: Held): Level => {
    // Whether it was clipped or nothing but zeros is known of the device's own samples; what was made of them may look otherwise.
    const measured = { ...measureFrame(held.samples), clipped: held.clipped, zeros: held.zero };
    signal = followSignal(signal, measured, frameMs);
    const { rms, peak, clipped, zeros } = measured;
    return { rms, peak, clipped, zeros, floor: noiseFloor(signal) };
  };
  const complete = () => {
    const held: Held = { ...open, gap };
    gap = false;
    emit({ type: 'level', level: levelOf(held) });
    if (sending === null) {
      ring.push(held);
      if (ring.length > ringFrames) ring.shift();
    } else {
      send(held);
      if (sending.untilMs !== null && clockMs >= sending.untilMs) finish();
    }
    open = fresh();
    filled = 0;
  };
  const take = (pcm: Float32Array) => {
    totals.taken += pcm.length;
    const { repaired, nonFinite, clipped, zero } = repair(pcm);
    totals.nonFinite += nonFinite;
    const ready = resampler.push(repaired);
    open.clipped ||= clipped;
    open.zero &&= zero;
    for (let at = 0; at < ready.length; ) {
      if (filled === 0) {
        open.captureMs = clockMs;
        // What has already come belongs to this frame too, or to none.
        open.clipped = clipped;
        open.zero = zero;
      }
      const piece = ready.subarray(at, at + audio.frameSamples - filled);
      blocker.run(piece, open.samples, filled);
      filled += piece.length;
      at += piece.length;
      clockMs += msOf(piece.length, audio.rateHz);
      if (filled === audio.frameSamples) complete();
    }
  };
  return {
    process(pcm, quantum) {
      if (closed) return;
      if (pcm !== null) return take(pcm);
      clockMs += msOf(quantum, rateHz);
      gap = true;
    },
    begin(preRollMs) {
      if (closed) return;
      finish();
      sending = { sent: 0, untilMs: null };
      const kept = ring.splice(0).filter((held) => held.captureMs + frameMs > clockMs - preRollMs);
      for (const held of kept) send(held);
    },
    end(tailMs) {
      if (sending === null) return;
      sending.untilMs = clockMs + tailMs;
      if (tailMs <= 0 && filled === 0) finish();
    },
    close(keep) {
      if (closed) return;
      closed = true;
      if (keep && sending !== null && filled > 0) {
        gap = true;
        complete();
      }
      finish();
      ring.length = 0;
      open = fresh();
      filled = 0;
    },
    counts: () => ({ ...totals, held: ring.length * audio.frameSamples + filled }),
  };
}

const fresh = () => ({ captureMs: 0, clipped: false, zero: true, samples: new Float32Array(audio.frameSamples) });

/** VO-05: what is no number becomes 0, what is out of range goes to its edge. */
function repair(pcm: Float32Array) {
  const repaired = new Float32Array(pcm.length);
  let nonFinite = 0;
  let clipped = false;
  let zero = true;
  for (let i = 0; i < pcm.length; i += 1) {
    const sample = pcm[i] ?? 0;
    if (!Number.isFinite(sample)) {
      nonFinite += 1;
      continue;
    }
    if (sample !== 0) zero = false;
    if (Math.abs(sample) >= audio.clipAt) clipped = true;
    repaired[i] = Math.max(-1, Math.min(1, sample));
  }
  return { repaired, nonFinite, clipped, zero };
}

/** Takes a constant offset out: a high pass at 15 Hz, far below any voice. */
function createOffsetBlocker() {
  const keep = Math.exp((-2 * Math.PI * 15) / audio.rateHz);
  let input: number | null = null;
  let output = 0;
  return {
    run(from: Float32Array, to: Float32Array, at: number) {
      for (let i = 0; i < from.length; i += 1) {
        const sample = from[i] ?? 0;
        // The first sample may already stand on the offset: no step from zero to it.
        output = sample - (input ?? sample) + keep * output;
        if (Math.abs(output) < 1e-9) output = 0;
        input = sample;
        to[at + i] = Math.max(-1, Math.min(1, output));
      }
    },
  };
}
