import { z } from 'zod';
import { EventId, MessageId, SessionId, TurnId } from './ids.ts';
import { Message } from './message.ts';
import { StopReason, Usage } from './session.ts';
import { Timestamp } from './time.ts';

/** Data of the durable events that this build writes (agent-runtime page, section 5). Readers ignore unknown types and fields (EV-11). */
export const durableEventData = {
  'session.started': z.object({
    agent_id: z.string(),
    revision_id: z.string(),
    revision: z.int(),
    origin: z.string(),
    title: z.string().optional(),
  }),
  'session.updated': z.object({
    changed: z.record(z.string(), z.object({ from: z.json(), to: z.json() })),
    by: z.enum(['owner', 'model']).optional(),
  }),
  'input.message': z.object({
    message: Message,
    delivery: z.enum(['started', 'steered', 'queued']),
    source: z.string(),
    retry_of: TurnId.optional(),
    /** The turn that this one begins with the words of: a person went on talking (voice page, row 31). */
    replaces: TurnId.optional(),
    /** With it a turn can be rebuilt from the log alone (EV-01). */
    idempotency_key: z.string().optional(),
  }),
  'turn.started': z.object({ turn_id: TurnId, attempt: z.int(), idempotency_key: z.string() }),
  /** Cancel was asked; the end follows as `turn.cancelled`. In the log, so that a turn's state never lives outside it. */
  'turn.cancelling': z.object({ turn_id: TurnId, by: z.string(), reason: z.string().optional() }),
  'turn.completed': z.object({ turn_id: TurnId, stop_reason: StopReason, usage: Usage.optional() }),
  'turn.cancelled': z.object({ turn_id: TurnId, stop_reason: StopReason, by: z.string(), reason: z.string(), usage: Usage.optional() }),
  'turn.failed': z.object({ turn_id: TurnId, error: z.string(), error_code: z.string(), details: z.record(z.string(), z.json()) }),
  'turn.interrupted': z.object({ turn_id: TurnId }),
  'turn.resumed': z.object({ turn_id: TurnId, rerun: z.array(z.string()), not_rerun: z.array(z.string()) }),
  'turn.sealed': z.object({ turn_id: TurnId, reason: z.enum(['no_progress', 'budget']) }),
  'reason.started': z.object({ iteration: z.int(), model: z.string(), context_tokens: z.int().nullable() }),
  'reason.completed': z.object({ iteration: z.int(), model: z.string(), context_tokens: z.int().nullable() }),
  'output.message.completed': z.object({ message: Message, phase: z.enum(['final', 'commentary']), interrupted: z.boolean().optional() }),
  'output.message.replaced': z.object({ message_id: MessageId, reason: z.string() }),
  /**
   * A spoken answer that was interrupted: UTF-16 units of its text, from the beginning, that were heard (MP-07). Once per message, after
   * the end of its turn.
   */
  'output.message.heard': z.object({ message_id: MessageId, heard_characters: z.int().min(0) }),
  'llm.generation': z.object({ purpose: z.string(), usage: Usage }),
  /** `from_sequence`: the oldest event that the model still reads, while its context is no larger than `context_size`. */
  'context.trimmed': z.object({
    reason: z.string(),
    messages_left_out: z.int(),
    tokens_before: z.int(),
    tokens_after: z.int(),
    from_sequence: z.int().optional(),
    context_size: z.int().optional(),
  }),
  'transcript.repaired': z.object({ skipped: z.array(z.int()) }),
} as const satisfies Record<string, z.ZodObject>;

export type DurableEventType = keyof typeof durableEventData;
export type DurableEventData<T extends DurableEventType> = z.infer<(typeof durableEventData)[T]>;

export const EventContext = z.object({ turn_id: TurnId.optional(), message_id: MessageId.optional() });
export type EventContext = z.infer<typeof EventContext>;

/** The envelope as readers get it: types and data stay open, so that an older reader survives a newer log. */
export const DurableEvent = z.object({
  id: EventId,
  type: z.string(),
  ts: Timestamp,
  session_id: SessionId,
  sequence: z.int().min(1),
  context: EventContext,
  data: z.record(z.string(), z.json()),
  unreadable: z.boolean().optional(),
});
export type DurableEvent = z.infer<typeof DurableEvent>;

/**
 * Live only: no id, no sequence (EV-04). `accumulated` counts the UTF-16 units of the message after this delta, so `delta` belongs at
 * `accumulated - delta.length`: beyond the end of what a reader has is a hole, before it an overlap (the text so far, sent again to a
 * watcher that joins late or fell behind).
 */
export const EphemeralEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('output.message.delta'),
    turn_id: TurnId,
    message_id: MessageId,
    delta: z.string(),
    accumulated: z.int().min(0),
  }),
  z.object({ type: z.literal('model.loading'), turn_id: TurnId, fraction: z.number().min(0).max(1) }),
  z.object({ type: z.literal('model.prefill'), turn_id: TurnId, done: z.int(), total: z.int(), etaMs: z.number().nullable() }),
  z.object({ type: z.literal('model.generating'), turn_id: TurnId }),
]);
export type EphemeralEvent = z.infer<typeof EphemeralEvent>;

/** What `events.watch` yields. After `lagged` the reader lists the gap by sequence (EV-08). */
export const WatchItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('durable'), event: DurableEvent }),
  z.object({ kind: z.literal('ephemeral'), event: EphemeralEvent }),
  z.object({ kind: z.literal('lagged'), missed: z.int() }),
]);
export type WatchItem = z.infer<typeof WatchItem>;
