import { open } from 'node:fs/promises';
import { InferenceSession } from 'onnxruntime-node';
import { AppError } from '../../shared/errors/appError.ts';
import type { FileSlice, SpeechLoadParams } from '../contract/speech.ts';

/**
 * For all speech models (speech facts, "In short" 2): quantised weights are folded once (a quarter of the recogniser's time), and threads
 * that spin cost twice on a busy machine.
 */
const options: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  extra: { session: { disable_quant_qdq: '1', 'intra_op.allow_spinning': '0' } },
};

/**
 * Loads a part of a model file.
 *
 * @param inputs   names that the model must take.
 * @param threads  more than one pays only for a large voice on a machine with cores to spare (speech facts, section 8).
 * @throws AppError MODEL_FILE_CORRUPT: no such file, no model, or another kind of model.
 */
export async function openModel(
  slice: FileSlice,
  inputs: readonly string[],
  { threads = 1 }: { threads?: number } = {},
): Promise<InferenceSession> {
  const bytes = await readSlice(slice);
  const session = await InferenceSession.create(bytes, { ...options, intraOpNumThreads: threads }).catch((error: unknown) => {
    throw corrupt('not a model that the library can load', error);
  });
  if (inputs.every((name) => session.inputNames.includes(name))) return session;
  await session.release();
  throw corrupt('another kind of model');
}

/** @throws AppError MODEL_FILE_CORRUPT if the file is missing or shorter than the slice. */
export async function readSlice(slice: FileSlice): Promise<Buffer> {
  const file = await open(slice.path, 'r').catch((error: unknown) => {
    throw corrupt('missing or unreadable', error);
  });
  try {
    const { size } = await file.stat();
    if (slice.offset + slice.bytes > size) throw corrupt('shorter than it should be');
    const bytes = Buffer.alloc(slice.bytes);
    for (let done = 0; done < slice.bytes; ) {
      const { bytesRead } = await file.read(bytes, done, slice.bytes - done, slice.offset + done);
      if (bytesRead === 0) throw corrupt('shorter than it should be');
      done += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

/** The named part of a model file. @throws AppError MODEL_FILE_CORRUPT. */
export function partOf(params: Pick<SpeechLoadParams, 'files'>, role: string): FileSlice {
  const slice = params.files[role];
  if (slice === undefined) throw corrupt(`no part ${role}`);
  return slice;
}

export function corrupt(reason: string, cause?: unknown): AppError {
  return new AppError('MODEL_FILE_CORRUPT', { reason }, { cause });
}
