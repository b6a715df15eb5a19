import { availableParallelism } from 'node:os';
import { Tensor } from 'onnxruntime-node';
import { z } from 'zod';
import { AppError } from '../../shared/errors/appError.ts';
import { joinSamples } from '../../shared/util/samples.ts';
import type { FileSlice, SpeechLoadParams } from '../contract/speech.ts';
import { kokoroIds, kokoroPhones, kokoroRuns } from './kokoroPhones.ts';
import { corrupt, openModel, partOf, readSlice } from './onnx.ts';
import type { Phonemizer } from './phonemizer.ts';
import { spokenPhones } from './phones.ts';
import { trimPhrase } from './sound.ts';
import type { Speaker } from './speaker.ts';

const SAMPLE_RATE = 24_000;
const styleNumbers = 256;
const styleRows = 510;
const rowBytes = styleNumbers * Float32Array.BYTES_PER_ELEMENT;
/** Parts of the file that hold a voice's style are called after it. */
const stylePrefix = 'style.';
/** Beyond this a further thread costs more than it brings (speech facts, section 8). */
const maxThreads = 4;

const VocabularyFile = z.object({ vocab: z.record(z.string(), z.int().positive()) });

/**
 * Kokoro (StyleTTS 2 over phonemes), after the one-time rewrite of its file.
 *
 * @param params  parts `model`, `vocabulary`, and `style.<voice>` for each voice: float32 [510][256], a row per number of sounds.
 * @throws AppError MODEL_FILE_CORRUPT.
 * @source speech facts, section 6; the phonemes are those of kokoro-js 1.2.1
 */
export async function createKokoro(params: SpeechLoadParams, phonemizer: Phonemizer): Promise<Speaker> {
  const vocabulary = readVocabulary((await readSlice(partOf(params, 'vocabulary'))).toString('utf8'));
  const styles = stylesOf(params);
  const [firstVoice] = styles.keys();
  if (firstVoice === undefined) throw corrupt('no voice in it');
  const threads = Math.max(1, Math.min(maxThreads, availableParallelism() - 1));
  const session = await openModel(partOf(params, 'model'), ['tokens', 'style', 'speed'], { threads });

  async function sound(ids: readonly number[], style: FileSlice, speed: number): Promise<Float32Array> {
    const tokens = [0, ...ids, 0];
    const out = await session.run({
      tokens: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
      style: new Tensor('float32', await rowOf(style, ids.length), [1, styleNumbers]),
      speed: new Tensor('float32', Float32Array.of(speed), [1]),
    });
    const data = out['audio']?.data;
    if (!(data instanceof Float32Array)) throw corrupt('another kind of model');
    return data;
  }

  return {
    sampleRate: SAMPLE_RATE,
    async speak({ text, speed, voice = firstVoice, accent }, isCancelled) {
      const stopIf = () => {
        if (isCancelled()) throw new AppError('CANCELLED');
      };
      stopIf();
      const style = styles.get(voice);
      if (style === undefined) throw new AppError('VOICE_UNKNOWN');
      const phones = kokoroPhones(await spokenPhones(text, phonemizer, accent), accent);
      const ids = kokoroIds(phones, vocabulary);
      if (ids === null) throw new AppError('TEXT_UNSPEAKABLE');
      const pieces: Float32Array[] = [];
      let madeMs = 0;
      for (const run of kokoroRuns(ids, vocabulary[' '])) {
        stopIf();
        const made = await sound(run, style, speed);
        madeMs += (made.length / SAMPLE_RATE) * 1000;
        pieces.push(trimPhrase(made, SAMPLE_RATE));
      }
      stopIf();
      return { samples: joinSamples(pieces), madeMs };
    },
    dispose: () => session.release(),
  };
}

function stylesOf({ files }: SpeechLoadParams): Map<string, FileSlice> {
  const styles = new Map<string, FileSlice>();
  for (const [role, slice] of Object.entries(files)) {
    if (!role.startsWith(stylePrefix)) continue;
    if (slice.bytes !== styleRows * rowBytes) throw corrupt('a voice of another size');
    styles.set(role.slice(stylePrefix.length), slice);
  }
  return styles;
}

/** The style of a voice depends on how much it is to say; one row of it is read when it is needed, 1 KB of 512. */
async function rowOf(style: FileSlice, sounds: number): Promise<Float32Array> {
  const row = Math.min(styleRows - 1, sounds);
  const bytes = await readSlice({ path: style.path, offset: style.offset + row * rowBytes, bytes: rowBytes });
  const numbers = new Float32Array(styleNumbers);
  new Uint8Array(numbers.buffer).set(bytes);
  if (!numbers.every(Number.isFinite)) throw corrupt('a voice with numbers that are none');
  return numbers;
}

function readVocabulary(json: string): Readonly<Record<string, number>> {
  try {
    return VocabularyFile.parse(JSON.parse(json)).vocab;
  } catch (error) {
    throw corrupt('not the vocabulary of a voice', error);
  }
}
