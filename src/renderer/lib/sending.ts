import { newId, type SessionId, type TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { type AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Connection } from './connection.ts';

export type Sent = { readonly sessionId: SessionId; readonly turnId: TurnId };

/** UTF-8 bytes of a text; the server counts the same way. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

export function isTooLong(text: string): boolean {
  // Three bytes are the most for one UTF-16 unit, so short texts need no counting.
  return text.length * 3 > limits.maxInputBytes && utf8Bytes(text) > limits.maxInputBytes;
}

/** Halves of surrogate pairs (a cut paste) become U+FFFD: they cannot be stored, sent or read by a model. */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

/**
 * Sends one message until the runtime has answered, however often the connection is lost meanwhile: the ids are made once, so no try
 * makes a second chat or a second message.
 *
 * @param sessionId  null starts a new chat with this message.
 * @param signal     takes the wish back; whether the message was stored is then unknown, and the thread shows it if it was.
 * @throws AppError  what the runtime said to it; nothing was stored then.
 */
export async function sendMessage(
  deps: { connection: Connection; clock: Clock },
  input: { sessionId: SessionId | null; text: string; onWaiting?: () => void },
  signal: AbortSignal,
): Promise<Sent> {
  const { connection, clock } = deps;
  const idempotencyKey = crypto.randomUUID();
  const fresh = input.sessionId === null;
  const sessionId = input.sessionId ?? newId('session', clock.nowMs());
  return untilAnswered(deps, input.onWaiting, signal, async () => {
    if (fresh) await connection.api.sessions.start({ sessionId }, { signal });
    const receipt = await connection.api.turns.send({ sessionId, content: wellFormed(input.text), idempotencyKey }, { signal });
    return { sessionId, turnId: receipt.turnId };
  });
}

/** The same question again, as a new turn; the earlier answer is folded away. */
export async function retryTurn(
  deps: { connection: Connection; clock: Clock },
  turn: Sent,
  signal: AbortSignal = new AbortController().signal,
): Promise<Sent> {
  const idempotencyKey = crypto.randomUUID();
  return untilAnswered(deps, undefined, signal, async () => {
    const receipt = await deps.connection.api.turns.retry({ ...turn, idempotencyKey }, { signal });
    return { sessionId: turn.sessionId, turnId: receipt.turnId };
  });
}

async function untilAnswered<T>(
  deps: { connection: Connection; clock: Clock },
  onWaiting: (() => void) | undefined,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    await deps.connection.whenOpen(signal);
    try {
      return await attempt();
    } catch (thrown) {
      const error: AppError = toAppError(thrown);
      if (error.code !== 'RUNTIME_UNAVAILABLE' && error.code !== 'SHUTTING_DOWN') throw error;
      onWaiting?.();
      await new Promise<void>((resolve) => deps.clock.setTimer(100, resolve));
    }
  }
}
