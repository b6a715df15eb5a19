import { oc } from '@orpc/contract';
import { z } from 'zod';
import { SessionId, TurnId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { MessagePart } from '../domain/message.ts';
import { TranscriptMessage, Turn, TurnSummary } from '../domain/session.ts';
import { errors } from './errors.ts';

export const IdempotencyKey = z.string().regex(/^[\x20-\x7e]{1,255}$/);

export const TurnReceipt = z.strictObject({
  turnId: TurnId,
  delivery: z.enum(['started', 'queued']),
  duplicate: z.boolean(),
  turn: Turn,
});
export type TurnReceipt = z.infer<typeof TurnReceipt>;

const oneTurn = z.strictObject({ sessionId: SessionId, turnId: TurnId });

export const turns = {
  /** Outlives its caller (TU-12). The reply means that the message survives a power cut (TU-04). */
  send: oc
    .errors(errors('SESSION_NOT_FOUND', 'TURN_ACTIVE', 'IDEMPOTENCY_KEY_REUSED', 'SESSION_LOG_TOO_LARGE', 'EVENT_TOO_LARGE'))
    .input(
      z.strictObject({
        sessionId: SessionId,
        content: z.union([z.string().min(1), z.array(MessagePart).min(1).max(64)]),
        idempotencyKey: IdempotencyKey.optional(),
        mode: z.literal('reject').default('reject'),
      }),
    )
    .output(TurnReceipt),
  /** The same input as a new turn; the exchange of `turnId` is folded away, never deleted. */
  retry: oc
    .errors(errors('SESSION_NOT_FOUND', 'TURN_NOT_FOUND', 'TURN_ACTIVE', 'IDEMPOTENCY_KEY_REUSED', 'SESSION_LOG_TOO_LARGE'))
    .input(oneTurn.extend({ idempotencyKey: IdempotencyKey.optional() }))
    .output(TurnReceipt),
  cancel: oc
    .errors(errors('SESSION_NOT_FOUND', 'TURN_MISMATCH', 'NO_ACTIVE_TURN'))
    .input(z.strictObject({ sessionId: SessionId, turnId: TurnId.optional() }))
    .output(z.strictObject({ turnId: TurnId, status: z.enum(['cancelling', 'cancelled']) })),
  get: oc.errors(errors('SESSION_NOT_FOUND', 'TURN_NOT_FOUND')).input(oneTurn).output(Turn),
  /** What a person decides of an interrupted turn (RE-13). */
  decide: oc
    .errors(errors('SESSION_NOT_FOUND', 'TURN_NOT_FOUND', 'TURN_MISMATCH'))
    .input(oneTurn.extend({ choice: z.enum(['resume', 'stop']) }))
    .output(Turn),
  /** Messages of a session, newest page first when `before` is absent; in each page oldest first. */
  history: oc
    .errors(
      errors('SESSION_NOT_FOUND', 'HISTORY_TOO_LARGE', 'CURSOR_MALFORMED', 'CURSOR_CROSS_SESSION', 'CURSOR_EXPIRED', 'CURSOR_INCOMPATIBLE'),
    )
    .input(
      z.strictObject({
        sessionId: SessionId,
        limit: z.int().min(1).max(limits.messagePageMax).default(limits.messagePage),
        cursor: z.string().max(512).optional(),
      }),
    )
    .output(
      z.strictObject({
        messages: z.array(TranscriptMessage),
        turns: z.array(TurnSummary),
        /** Watch from here: everything up to it is in this walk. */
        sequence: z.int().min(0),
        olderCursor: z.string().nullable(),
      }),
    ),
};
