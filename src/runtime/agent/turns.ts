import type { TurnReceipt } from '../../shared/contract/turns.ts';
import type { SessionId, TurnId } from '../../shared/domain/ids.ts';
import type { MessagePart } from '../../shared/domain/message.ts';
import type { TranscriptMessage, Turn, TurnSummary } from '../../shared/domain/session.ts';

export type HistoryPage = {
  messages: TranscriptMessage[];
  turns: TurnSummary[];
  sequence: number;
  olderCursor: string | null;
};

export type Turns = {
  /**
   * Stores the message and its turn in one transaction, then starts it when a slot is free (TU-04). The turn outlives its caller.
   *
   * @throws AppError SESSION_NOT_FOUND, TURN_ACTIVE, IDEMPOTENCY_KEY_REUSED, SESSION_LOG_TOO_LARGE, EVENT_TOO_LARGE, STORE_*.
   */
  send(input: { sessionId: SessionId; content: string | readonly MessagePart[]; idempotencyKey?: string | undefined }): TurnReceipt;
  /** The same input as a new turn; the old exchange is folded away. @throws as `send`, and TURN_NOT_FOUND. */
  retry(input: { sessionId: SessionId; turnId: TurnId; idempotencyKey?: string | undefined }): TurnReceipt;
  /** @throws AppError SESSION_NOT_FOUND, TURN_MISMATCH, NO_ACTIVE_TURN */
  cancel(input: { sessionId: SessionId; turnId?: TurnId | undefined }): { turnId: TurnId; status: 'cancelling' | 'cancelled' };
  /** @throws AppError SESSION_NOT_FOUND, TURN_NOT_FOUND */
  get(sessionId: SessionId, turnId: TurnId): Turn;
  /** What a person decides of an interrupted turn. @throws AppError SESSION_NOT_FOUND, TURN_NOT_FOUND, TURN_MISMATCH */
  decide(input: { sessionId: SessionId; turnId: TurnId; choice: 'resume' | 'stop' }): Turn;
  /** @throws AppError SESSION_NOT_FOUND, HISTORY_TOO_LARGE, CURSOR_* */
  history(input: { sessionId: SessionId; limit: number; cursor?: string | undefined }): HistoryPage;
};
