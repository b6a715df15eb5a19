import { AppError } from '../../shared/errors/appError.ts';
import type { Sequence } from './sequence.ts';

/** What a job may ask of the world outside: whether its caller gave up, and the time for progress. */
export type JobControl = { isCancelled(): boolean; nowMs(): number };

export type PrefillProgress = { readonly done: number; readonly total: number; readonly reused: number };

/** ABI-06 asks for news each 500 ms; the graph node in which we look may itself take a while. */
const REPORT_EVERY_MS = 300;

/**
 * Reads a prompt into the sequence, in chunks so that it can be cancelled and followed.
 *
 * @param prompt  at least one token, shorter than the context.
 * @param chunk   tokens per batch, at most the context's batch size.
 * @returns tokens reused; `cancelled` when the caller gave up, the sequence then holds what was read so far.
 * @throws AppError CONTEXT_OVERFLOW {tokens, contextSize}, and what `decode` throws.
 */
export function prefill(
  sequence: Sequence,
  prompt: Int32Array,
  contextSize: number,
  chunk: number,
  control: JobControl,
  onProgress: (progress: PrefillProgress) => void,
): { readonly reused: number; readonly cancelled: boolean } {
  // One place is left for the first token of the reply.
  if (prompt.length >= contextSize) throw new AppError('CONTEXT_OVERFLOW', { tokens: prompt.length, contextSize });
  const reused = sequence.reuse(prompt);
  let done = reused;
  let reportedMs = control.nowMs();
  const report = () => {
    reportedMs = control.nowMs();
    onProgress({ done, total: prompt.length, reused });
  };
  // Within a chunk too: on a slow machine one chunk takes seconds, and a slow prompt must differ from a hang.
  const shouldAbort = () => {
    if (control.isCancelled()) return true;
    if (control.nowMs() - reportedMs >= REPORT_EVERY_MS) report();
    return false;
  };
  report();
  while (done < prompt.length) {
    if (control.isCancelled()) return { reused, cancelled: true };
    const outcome = sequence.append(prompt.subarray(done, done + chunk), shouldAbort);
    if (outcome === 'aborted') return { reused, cancelled: true };
    if (outcome === 'full') throw new AppError('CONTEXT_OVERFLOW', { tokens: prompt.length, contextSize });
    done = Math.min(prompt.length, done + chunk);
    if (done === prompt.length || control.nowMs() - reportedMs >= REPORT_EVERY_MS) report();
  }
  return { reused, cancelled: false };
}
