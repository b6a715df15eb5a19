import type { LineWire } from '../../shared/contract/voiceLine.ts';
import type { SessionId, TurnId } from '../../shared/domain/ids.ts';
import type { VoiceMode } from '../../shared/domain/voice.ts';
import type { LatencyRecord, summarise } from '../../shared/domain/voiceLatency.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import type { AppError } from '../../shared/errors/appError.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import type { SpeechToText } from '../inference/speechToText.ts';
import type { TextToSpeech } from '../inference/textToSpeech.ts';
import type { Vad } from '../inference/vad.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import type { CancelReason, VoiceEffect, VoiceInput, VoiceState } from './turn/state.ts';

/** What a spoken turn asks of the agent; compose fills it. */
export type Conversation = {
  /**
   * Commits what was said (VO-28): `turns.send` with source `voice`. A null session becomes a new one.
   *
   * @param input.key       idempotency key; the same twice makes one turn.
   * @param input.replaces  the cancelled turn that the words go on from (row 31): its exchange is folded away.
   * @throws AppError as `turns.send`.
   */
  send(input: { sessionId: SessionId | null; text: string; key: string; replaces?: TurnId | undefined }): SpokenTurn;
  /** Ends a turn that works; one that has ended is left alone. */
  cancel(turn: SpokenTurn, reason: CancelReason): void;
  /** The answer from its beginning, until it ended. */
  follow(turn: SpokenTurn, signal: AbortSignal): AsyncIterable<ReplyItem>;
  /**
   * Stores how much of the answer was heard (VO-41): `output.message.heard`. The next prompt holds only that.
   *
   * @param units  UTF-16 length of the written answer up to the last played mark; 0 = none of it.
   */
  heard(turn: SpokenTurn, units: number): void;
};

export type SpokenTurn = { readonly sessionId: SessionId; readonly turnId: TurnId };

export type ReplyItem =
  /** `contextReady` counts as reached when reading begins, the first token with the first delta. */
  | { readonly kind: 'stage'; readonly stage: 'loading' | 'reading' | 'writing'; readonly fraction: number | null }
  | { readonly kind: 'delta'; readonly text: string }
  /** The deltas so far are void: the answer begins anew (VO-61). */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'ended'; readonly how: 'completed' | 'cancelled' }
  | { readonly kind: 'ended'; readonly how: 'failed'; readonly error: AppError };

/** Who grants the microphone: main in the app, the runtime itself for `serve` (VO-08, VO-09). */
export type MicrophoneGate = {
  /** One capture lease. @throws AppError MIC_MUTED, MIC_DENIED. */
  grant(): Promise<void>;
  release(): void;
  setMuted(muted: boolean): void;
};

/** A lease without talking: the microphone step of first run, later the test in Diagnostics. Its own service beside `Voice`. */
export type MicrophoneTest = {
  /** One item when the page may open the microphone; the lease ends with the iterator. @throws AppError VOICE_BUSY, MIC_MUTED, MIC_DENIED. */
  hold(signal: AbortSignal | undefined): AsyncGenerator<{ granted: true }, void, void>;
};

/** What a person chose; kept by the settings of the store. Devices by name, null = the system's own. */
export type VoiceChoices = {
  get(): { readonly muted: boolean; readonly microphone: string | null; readonly voiceId: string | null; readonly speed: number };
  setMuted(muted: boolean): void;
};

export type VoiceDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly vad: Vad;
  readonly speechToText: SpeechToText;
  readonly textToSpeech: TextToSpeech;
  readonly conversation: Conversation;
  readonly gate: MicrophoneGate;
  readonly choices: VoiceChoices;
  /** Begins to load what answers, while the person still talks. */
  readonly prewarm: () => void;
  /** The model that would answer, for the latency record. */
  readonly languageModel: () => string | null;
  /** Each step of the reducer, for timelines of replays (VO-29). It holds what was said: never to a log. */
  readonly onStep?: (step: VoiceStepSeen) => void;
};

export type VoiceStepSeen = {
  /** Monotonic ms. */
  readonly atMs: number;
  readonly input: VoiceInput;
  readonly state: VoiceState;
  readonly effects: readonly VoiceEffect[];
};

/** Frames and chunks since the start that did not go their way, and those that did. */
export type VoiceCounts = {
  /** Frames that reached the ears. While muted it does not move (RB-55). */
  readonly taken: number;
  readonly whileMuted: number;
  /** Of a page that does not have the microphone. */
  readonly foreign: number;
  /** Nobody had asked for them. */
  readonly unasked: number;
  /** Lost on the way and filled with silence; come again or too late. */
  readonly filled: number;
  readonly stale: number;
  /** Too far behind for the activity model. */
  readonly unjudged: number;
  /** Chunks of an answer that was over (VO-74). */
  readonly lateChunks: number;
  readonly underruns: number;
  /** Inputs that no row of the table took. */
  readonly ignored: number;
};

/** The service behind `contract/voice.ts`. */
export type Voice = {
  readonly view: LiveValue<VoiceView>;
  /** @throws AppError as the contract's `voice.arm` says. */
  arm(input: { line: string; mode?: VoiceMode | undefined }): Promise<VoiceView>;
  disarm(): VoiceView;
  setMuted(muted: boolean): VoiceView;
  cancel(): { cancelled: boolean };
  latency(limit: number): { records: LatencyRecord[]; summary: ReturnType<typeof summarise> };
  /** Serves one line until it closes. */
  connect(wire: LineWire): void;
  counts(): VoiceCounts;
  [Symbol.asyncDispose](): Promise<void>;
};
