import { Tensor } from 'onnxruntime-node';
import { z } from 'zod';
import { AppError } from '../../shared/errors/appError.ts';
import type { SpeechLoadParams } from '../contract/speech.ts';
import { corrupt, openModel, partOf, readSlice } from './onnx.ts';
import type { Phonemizer } from './phonemizer.ts';
import { phoneIds, spokenPhones } from './phones.ts';
import { trimPhrase } from './sound.ts';
import type { Speaker } from './speaker.ts';

/** What we read of a voice's description. */
const VoiceFile = z.object({
  audio: z.object({ sample_rate: z.int().min(8_000).max(192_000) }),
  inference: z.object({ noise_scale: z.number(), length_scale: z.number(), noise_w: z.number() }),
  phoneme_id_map: z.record(z.string(), z.array(z.int()).min(1)),
  num_speakers: z.literal(1),
});

/**
 * A voice of Piper (VITS over phonemes).
 *
 * @param params  parts `model` and `voice`.
 * @throws AppError MODEL_FILE_CORRUPT.
 * @source speech facts, section 7
 */
export async function createPiper(params: SpeechLoadParams, phonemizer: Phonemizer): Promise<Speaker> {
  const voice = readVoice((await readSlice(partOf(params, 'voice'))).toString('utf8'));
  const session = await openModel(partOf(params, 'model'), ['input', 'input_lengths', 'scales']);
  const { noise_scale: noise, length_scale: length, noise_w: width } = voice.inference;
  const sampleRate = voice.audio.sample_rate;
  return {
    sampleRate,
    async speak({ text, speed, accent }, isCancelled) {
      const stopIf = () => {
        if (isCancelled()) throw new AppError('CANCELLED');
      };
      stopIf();
      const ids = phoneIds(await spokenPhones(text, phonemizer, accent), voice.phoneme_id_map);
      if (ids === null) throw new AppError('TEXT_UNSPEAKABLE');
      stopIf();
      const out = await session.run({
        input: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
        input_lengths: new Tensor('int64', BigInt64Array.of(BigInt(ids.length)), [1]),
        scales: new Tensor('float32', Float32Array.of(noise, length / speed, width), [3]),
      });
      stopIf();
      const data = out['output']?.data;
      if (!(data instanceof Float32Array)) throw corrupt('another kind of model');
      return { samples: trimPhrase(data, sampleRate), madeMs: (data.length / sampleRate) * 1000 };
    },
    dispose: () => session.release(),
  };
}

function readVoice(json: string): z.infer<typeof VoiceFile> {
  try {
    return VoiceFile.parse(JSON.parse(json));
  } catch (error) {
    throw corrupt('not the description of a voice', error);
  }
}
