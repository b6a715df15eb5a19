import { z } from 'zod';
import { AgentId, MessageId, RevisionId, SessionId, TurnId } from './ids.ts';
import { limits } from './limits.ts';
import { Message } from './message.ts';
import { Timestamp } from './time.ts';

export const SessionOrigin = z.enum(['app', 'voice', 'http', 'mcp', 'schedule', 'task']);
export const SessionStatus = z.enum(['started', 'idle', 'active', 'waitingforinput', 'failed']);
export type SessionStatus = z.infer<typeof SessionStatus>;

/** Exactly six (TU-01); the last three are final. */
export const TurnStatus = z.enum(['queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled']);
export type TurnStatus = z.infer<typeof TurnStatus>;

export const Title = z.string().trim().min(1).max(limits.titleCharacters);

/** SE-01. `trashedAt` is set while the session is in the trash (SE-07). */
export const Session = z.strictObject({
  id: SessionId,
  agentId: AgentId,
  agentRevisionId: RevisionId,
  agentRevision: z.int().min(1),
  status: SessionStatus,
  last_turn_status: z.enum(['completed', 'failed', 'cancelled']).optional(),
  title: z.string().max(limits.titleCharacters).nullable(),
  titleBy: z.enum(['owner', 'model']).nullable(),
  metadata: z.record(z.string(), z.json()),
  driverSessionId: z.string().nullable(),
  parentSessionId: SessionId.nullable(),
  origin: SessionOrigin,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  archivedAt: Timestamp.nullable(),
  trashedAt: Timestamp.nullable(),
});
export type Session = z.infer<typeof Session>;

export const StopReason = z.enum(['end', 'max_iterations', 'max_output', 'no_progress', 'budget', 'cancelled']);
export type StopReason = z.infer<typeof StopReason>;

/** Tokens and times of one turn. Times are ms; `null` = not known. `firstTokenMs` counts from the start of the model call. */
export const Usage = z.strictObject({
  model: z.string(),
  promptTokens: z.int().min(0),
  reusedTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  firstTokenMs: z.number().min(0).nullable(),
  tokensPerSecond: z.number().min(0).nullable(),
  totalMs: z.number().min(0),
  where: z.enum(['here', 'away']),
});
export type Usage = z.infer<typeof Usage>;

export const TurnError = z.strictObject({ code: z.string(), message: z.string(), details: z.record(z.string(), z.json()) });
export type TurnError = z.infer<typeof TurnError>;

export const TurnResult = z.strictObject({
  message: Message.optional(),
  metadata: z.record(z.string(), z.json()),
  usage: Usage.optional(),
  stop_reason: StopReason,
  driverSessionId: z.string().optional(),
});
export type TurnResult = z.infer<typeof TurnResult>;

/** TU-02. Parked is not a state: `waitingOn` says so. `retryOf` names the turn whose exchange this one replaces. */
export const Turn = z.strictObject({
  id: TurnId,
  sessionId: SessionId,
  idempotencyKey: z.string(),
  inputDigest: z.string(),
  status: TurnStatus,
  input: Message,
  result: TurnResult.nullable(),
  error: TurnError.nullable(),
  attempt: z.int().min(1),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
  waitingOn: z.enum(['needs_reconciliation']).nullable(),
  retryOf: TurnId.nullable(),
});
export type Turn = z.infer<typeof Turn>;

/**
 * A message as the screen shows it: a row of the projection. `interrupted` = cut by cancel or crash; `supersededBy` = a later try
 * replaced the exchange it belongs to; `heard` = UTF-16 units of a spoken answer that were heard before it was interrupted, null for any
 * other message. `turnStatus`, `error` and `usage` are those of its turn.
 */
export const TranscriptMessage = z.strictObject({
  id: MessageId,
  turnId: TurnId,
  role: z.enum(['user', 'assistant', 'system']),
  text: z.string(),
  sequence: z.int().min(1),
  at: Timestamp,
  interrupted: z.boolean(),
  unreadable: z.boolean(),
  supersededBy: TurnId.nullable(),
  heard: z.int().min(0).nullable(),
});
export type TranscriptMessage = z.infer<typeof TranscriptMessage>;

/** What the thread needs to know of a turn beside its messages. */
export const TurnSummary = Turn.pick({
  id: true,
  status: true,
  error: true,
  attempt: true,
  createdAt: true,
  startedAt: true,
  completedAt: true,
  waitingOn: true,
  retryOf: true,
}).extend({ usage: Usage.nullable(), stopReason: StopReason.nullable() });
export type TurnSummary = z.infer<typeof TurnSummary>;
