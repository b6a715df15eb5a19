import type { IncomingMessage } from 'node:http';
import { AppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';

/**
 * Reads a whole body of bounded size.
 *
 * @param idleMs  longest gap between two pieces; a sender who drips slower is cut.
 * @throws AppError PAYLOAD_TOO_LARGE as soon as one byte too many came, REQUEST_TIMEOUT, CANCELLED when the sender left.
 */
export function readBody(request: IncomingMessage, options: { maxBytes: number; idleMs: number; clock: Clock }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let stopTimer = () => {};
    const end = (settle: () => void) => {
      stopTimer();
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      settle();
    };
    const fail = (error: AppError) => {
      request.pause();
      end(() => reject(error));
    };
    const arm = () => {
      stopTimer();
      stopTimer = options.clock.setTimer(options.idleMs, () => fail(new AppError('REQUEST_TIMEOUT')));
    };
    const onData = (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > options.maxBytes) return fail(new AppError('PAYLOAD_TOO_LARGE', { maxBytes: options.maxBytes }));
      pieces.push(piece);
      arm();
    };
    const onEnd = () => end(() => resolve(Buffer.concat(pieces)));
    const onGone = () => fail(new AppError('CANCELLED'));
    arm();
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}
