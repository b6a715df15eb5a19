import type { SessionId } from '../../../shared/domain/ids.ts';
import type { CommitRequest } from './answers.ts';

type Saying = {
  readonly utterance: number;
  /** The chat in front when the key went down. */
  readonly sessionId: SessionId | null;
  language: string;
  endDecidedMs: number | null;
  asrFinalMs: number | null;
};

/** What a commit has to know of its utterance beside the words: in which chat, in which language, and when what was reached. */
export function createSaying(instance: string) {
  let pressedIn: SessionId | null = null;
  let saying: Saying | null = null;
  return {
    pressed(sessionId: SessionId | null): void {
      pressedIn = sessionId;
    },
    opened(utterance: number): void {
      saying = { utterance, sessionId: pressedIn, language: 'en', endDecidedMs: null, asrFinalMs: null };
    },
    ended(nowMs: number): void {
      if (saying !== null) saying.endDecidedMs = nowMs;
    },
    heard(language: string, nowMs: number): void {
      if (saying !== null) Object.assign(saying, { language, asrFinalMs: nowMs });
    },
    /** @param lastVoicedMs  null: nothing could tell when the last word ended. */
    request(
      commit: Pick<CommitRequest, 'turn' | 'text' | 'replaces'> & { utterance: number },
      nowMs: number,
      lastVoicedMs: number | null,
    ): CommitRequest {
      const { turn, text, replaces, utterance } = commit;
      const said = saying?.utterance === utterance ? saying : null;
      return {
        turn,
        text,
        replaces,
        // Numbers of utterances begin anew in each runtime; with its name they are like no other's (VO-28).
        runId: `${instance}-${utterance}`,
        sessionId: said?.sessionId ?? null,
        language: said?.language ?? 'en',
        lastVoicedMs: lastVoicedMs ?? said?.endDecidedMs ?? nowMs,
        marks: { endDecided: said?.endDecidedMs ?? nowMs, asrFinal: said?.asrFinalMs ?? nowMs, committed: nowMs },
      };
    },
  };
}
