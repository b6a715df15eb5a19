import type { LatencyRecord } from '../../../shared/domain/voiceLatency.ts';
import type { VoiceFault, VoiceView } from '../../../shared/domain/voiceView.ts';
import type { VadModel } from '../../inference/vad.ts';
import type { SpokenTurn } from '../ports.ts';
import type { VoiceState } from '../turn/state.ts';
import type { AnswerView } from './answers.ts';

/** What is true besides the reducer's state at the moment of a look. */
export type Around = {
  readonly soundArrived: boolean;
  readonly device: string;
  readonly line: string | null;
  readonly answer: AnswerView | null;
  readonly dataOf: (code: string) => VoiceFault['data'];
};

/** What pages are shown beside the state: words of both sides, notices, and the last turn's figures. Each thing is kept until a newer one. */
export function createShown() {
  let caption: VoiceView['caption'] = null;
  let stable = '';
  let reply: VoiceView['reply'] = null;
  let turn: Pick<VoiceView, 'sessionId' | 'turnId'> = { sessionId: null, turnId: null };
  let notice: VoiceView['notice'] = null;
  let activity: VoiceView['activity'] = null;
  let latency: LatencyRecord | null = null;

  const stageOf = (state: VoiceState, answer: AnswerView | null): VoiceView['stage'] => {
    if (state.phase === 'committing') return { kind: 'hearing', fraction: null };
    const stage = state.phase === 'thinking' ? (answer?.stage ?? null) : null;
    return stage === null ? null : { kind: stage.stage, fraction: stage.fraction };
  };
  return {
    /** Somebody is listened to anew. */
    listening(): void {
      caption = null;
      stable = '';
    },
    /** The beginning of the partial that comes next which does not change any more. */
    stable(text: string): void {
      stable = text;
    },
    partial(utterance: number, text: string): void {
      caption = { utterance, text, stable, final: false };
    },
    /** What was being said is forgotten. */
    forget(): void {
      if (caption?.final === false) caption = null;
    },
    said(utterance: number, text: string): void {
      caption = { utterance, text, stable: text, final: true };
      reply = null;
    },
    committed(spoken: SpokenTurn): void {
      turn = { sessionId: spoken.sessionId, turnId: spoken.turnId };
    },
    notice(code: string, data: VoiceFault['data']): void {
      notice = { id: (notice?.id ?? 0) + 1, code, data };
    },
    /** @returns whether another model decides now, and it is the older one (VO-103). */
    activity(model: VadModel | null): boolean {
      const before = activity?.modelId;
      activity = model === null ? null : { modelId: model.modelId, spare: model.spare };
      return activity !== null && activity.spare !== null && before !== activity.modelId;
    },
    spoken(record: LatencyRecord): void {
      latency = record;
    },
    view(state: VoiceState, { answer, dataOf, ...around }: Around): VoiceView {
      const { phase, guarded, mode, muted, key, by, fault } = state;
      if (answer !== null) reply = { generation: answer.generation, turnId: answer.turnId, phrases: [...answer.phrases] };
      return {
        phase,
        guarded,
        mode,
        muted,
        key,
        by,
        ...around,
        ...turn,
        caption,
        reply,
        stage: stageOf(state, answer),
        fault: fault === null ? null : { code: fault.code, data: dataOf(fault.code) },
        notice,
        activity,
        latency,
      };
    },
  };
}
