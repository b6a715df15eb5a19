import { z } from 'zod';
import { SessionId, TurnId } from './ids.ts';
import { ListeningBy, TalkKeyState, VoiceMode, VoicePhase } from './voice.ts';
import { LatencyRecord } from './voiceLatency.ts';

/** A fault or a notice: a code of the error tables with its data, so that the page words it. */
export const VoiceFault = z.strictObject({ code: z.string(), data: z.record(z.string(), z.json()) });
export type VoiceFault = z.infer<typeof VoiceFault>;

/** A phrase of the answer that was given to the loudspeaker. `from`, `to`: UTF-16 units of the written answer; `text` is what is spoken. */
export const SpokenCaption = z.strictObject({ phrase: z.int(), from: z.int(), to: z.int(), text: z.string() });
export type SpokenCaption = z.infer<typeof SpokenCaption>;

/** Phrases that the view carries; older ones have been said. */
export const viewPhrases = 24;

/**
 * All that a page shows of voice: the value of `voice.phase`. It is live and never an event of the log (VO-88). Which word stands for it
 * is decided by `voiceWord` alone (VO-107).
 */
export const VoiceView = z.strictObject({
  phase: VoicePhase,
  guarded: z.boolean(),
  mode: VoiceMode,
  muted: z.boolean(),
  key: TalkKeyState,
  by: ListeningBy,
  /** A frame that is not all zeros came since the microphone was opened. */
  soundArrived: z.boolean(),
  /** The microphone's name; empty while it is not known. */
  device: z.string(),
  /** The line (page) that holds the microphone; null while off. */
  line: z.string().nullable(),
  /** The chat that the present or last spoken turn belongs to. */
  sessionId: SessionId.nullable(),
  turnId: TurnId.nullable(),
  /** Own words while they are recognised: `stable` is the beginning that does not change any more. Kept until the next utterance. */
  caption: z.strictObject({ utterance: z.int(), text: z.string(), stable: z.string(), final: z.boolean() }).nullable(),
  /** The answer as far as it was given to the voice; the generation is that of its sound chunks. */
  reply: z.strictObject({ generation: z.int(), turnId: TurnId.nullable(), phrases: z.array(SpokenCaption).max(viewPhrases) }).nullable(),
  /** While it thinks: what is done, how far, and since when (ms of the runtime's wall clock). */
  stage: z
    .strictObject({ kind: z.enum(['hearing', 'loading', 'reading', 'writing']), fraction: z.number().min(0).max(1).nullable() })
    .nullable(),
  /** Why it is in `failed`, or will be at the next rest. */
  fault: VoiceFault.nullable(),
  /** The newest notice; `id` rises. A page shows it until the next one or until something was said. */
  notice: z.strictObject({ id: z.int(), code: z.string(), data: z.record(z.string(), z.json()) }).nullable(),
  /** Which model decides that someone speaks; `spare` = why the older one serves (VO-103). */
  activity: z.strictObject({ modelId: z.string(), spare: z.enum(['model-missing', 'load-failed']).nullable() }).nullable(),
  /** The last turn that was spoken to its end. */
  latency: LatencyRecord.nullable(),
});
export type VoiceView = z.infer<typeof VoiceView>;
