import { audio } from '../../shared/domain/audio.ts';
import { createResampler } from '../../shared/util/resampler.ts';
import { momentBytes, monoOf, type PcmFormat } from './pcm.ts';

export type Intake = {
  /**
   * @param bytes  as they come, cut anywhere, also inside a sample; not kept.
   * @returns      frames that are whole now: Float32Array[512] at 16 kHz.
   */
  push(bytes: Uint8Array): Float32Array<ArrayBuffer>[];
  /** The rest, the last frame filled up with zeros. Half a sample at the end is left out. */
  end(): Float32Array<ArrayBuffer>[];
  /** Samples that were no number; they are 0 now (VO-05). */
  repaired(): number;
};

/**
 * Sound of a file, a pipe or a connection as the frames that all voice ports expect (VO-85): resampled first, then cut. The same bytes in
 * other pieces give the same frames.
 *
 * @param format  8 000…192 000 Hz.
 */
export function createIntake(format: PcmFormat): Intake {
  const resampler = createResampler(format.sampleRate, audio.rateHz);
  const width = momentBytes(format);
  /** The beginning of a moment whose other bytes have not come yet. */
  let over = new Uint8Array(0);
  let frame = new Float32Array(audio.frameSamples);
  let filled = 0;
  let repaired = 0;

  function cut(samples: Float32Array): Float32Array<ArrayBuffer>[] {
    const whole: Float32Array<ArrayBuffer>[] = [];
    for (let at = 0; at < samples.length; ) {
      const piece = samples.subarray(at, at + audio.frameSamples - filled);
      frame.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (filled < audio.frameSamples) continue;
      whole.push(frame);
      frame = new Float32Array(audio.frameSamples);
      filled = 0;
    }
    return whole;
  }

  return {
    push(bytes) {
      const all = new Uint8Array(over.length + bytes.length);
      all.set(over);
      all.set(bytes, over.length);
      const usable = all.length - (all.length % width);
      over = all.slice(usable);
      const mono = monoOf(all.subarray(0, usable), format);
      repaired += mono.repaired;
      return cut(resampler.push(mono.samples));
    },
    end() {
      const frames = cut(resampler.flush());
      if (filled > 0) frames.push(frame);
      over = new Uint8Array(0);
      frame = new Float32Array(audio.frameSamples);
      filled = 0;
      return frames;
    },
    repaired: () => repaired,
  };
}
