import type { ListeningBy, TalkKeyState, VoiceMode, VoicePhase } from '../../../shared/domain/voice.ts';

export type Purpose = 'talk' | 'dictate';
export type CancelReason = 'barge-in' | 'eot-revoked' | 'user-cancel' | 'timeout' | 'external';

export const TIMER_NAMES = ['arm', 'window', 'silence', 'flush', 'longest', 'guard', 'wordWindow', 'idle'] as const;
export type TimerName = (typeof TIMER_NAMES)[number];

/** What the gate of VO-82 says about a final text; `nothing` = empty or rejected by VO-58. */
export type Verdict = { readonly kind: 'answer' } | { readonly kind: 'ignore'; readonly reason: string } | { readonly kind: 'nothing' };

/**
 * What can happen to a spoken turn (voice page, 4.1). `lease`, `utterance`, `turn` and the timers' `id` are the numbers that the effects
 * carried: an input with an older one is stale. `now` and all times are monotonic ms.
 */
export type VoiceInput =
  | { readonly type: 'arm' }
  | { readonly type: 'disarm' }
  | { readonly type: 'muteOn' }
  | { readonly type: 'muteOff' }
  | { readonly type: 'mode'; readonly mode: VoiceMode }
  | { readonly type: 'keyDown'; readonly key: Purpose }
  | { readonly type: 'keyUp'; readonly key: Purpose }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'cancel'; readonly reason: CancelReason }
  | { readonly type: 'armed'; readonly lease: number }
  | { readonly type: 'armFailed'; readonly lease: number; readonly code: string }
  | { readonly type: 'micSilent' }
  | { readonly type: 'deviceChanged' }
  /** `code`: why, if it is another reason than that the device is gone. */
  | { readonly type: 'deviceLost'; readonly code?: string }
  /** `final`: the breaker is open, nobody restarts it. */
  | { readonly type: 'engineLost'; readonly code: string; readonly final: boolean }
  | { readonly type: 'memoryDisarm'; readonly figures: Readonly<Record<string, number>> }
  | { readonly type: 'pageGone' }
  /** `gate`: the gate of VO-37 is passed. It only counts while we speak. */
  | { readonly type: 'speechStart'; readonly probability: number; readonly gate: boolean }
  | { readonly type: 'speechActive'; readonly gate: boolean }
  /** Repeats while the pause lasts. `pauseMs` counts from the last voiced frame. */
  | { readonly type: 'speechPause'; readonly pauseMs: number }
  | { readonly type: 'blip' }
  | { readonly type: 'wake'; readonly score: number }
  | { readonly type: 'wakeRejected'; readonly utterance: number }
  | { readonly type: 'stopWord' }
  | { readonly type: 'endOfTurn'; readonly utterance: number; readonly probability: number }
  | { readonly type: 'partial'; readonly utterance: number; readonly text: string; readonly stable: boolean }
  | { readonly type: 'final'; readonly utterance: number; readonly text: string; readonly language: string; readonly verdict: Verdict }
  | { readonly type: 'asrFailed'; readonly utterance: number; readonly code: string }
  | { readonly type: 'words'; readonly utterance: number; readonly text: string }
  | { readonly type: 'backchannel'; readonly utterance: number; readonly text: string }
  | { readonly type: 'firstSound'; readonly turn: number }
  /** All sound that was queued has been played, or counts so (VO-65). */
  | { readonly type: 'drained'; readonly turn: number }
  /** `hadSound`: some of its sound is not played yet, so that `drained` will follow. */
  | { readonly type: 'replyDone'; readonly turn: number; readonly hadSound: boolean }
  | { readonly type: 'replyFailed'; readonly turn: number; readonly code: string }
  | { readonly type: 'turnParked'; readonly turn: number; readonly toBeSaid: boolean }
  | { readonly type: 'turnResumed'; readonly turn: number }
  /** A tool call of the turn begins or ends: rows 31, 32 and 37 ask for it. */
  | { readonly type: 'toolCall'; readonly turn: number; readonly running: boolean }
  | { readonly type: 'timer'; readonly name: TimerName; readonly id: number };

export type Cue = 'listening' | 'off' | 'failed';

/** What the world is asked to do. Plain data: the driver turns it into calls. */
export type VoiceEffect =
  | { readonly do: 'takeLeases'; readonly lease: number; readonly for: Purpose }
  | { readonly do: 'releaseLeases'; readonly lease: number }
  | { readonly do: 'openMic' }
  | { readonly do: 'closeMic' }
  /** `listening` is heard when the first frame that is not all zeros has come (VO-07). */
  | { readonly do: 'cue'; readonly kind: Cue }
  | { readonly do: 'openAsr'; readonly utterance: number; readonly preRollMs: number }
  | { readonly do: 'flushAsr'; readonly utterance: number; readonly tailMs: number }
  | { readonly do: 'closeAsr'; readonly utterance: number }
  | { readonly do: 'askEndOfTurn'; readonly utterance: number }
  | { readonly do: 'caption'; readonly utterance: number; readonly text: string; readonly stable: boolean }
  /** Load what answering needs: the person began to talk. */
  | { readonly do: 'prewarm' }
  | { readonly do: 'speculate'; readonly utterance: number; readonly text: string }
  | { readonly do: 'promote'; readonly turn: number }
  | { readonly do: 'abortSpeculation' }
  /** `turns.send` with the utterance as idempotency key. `replaces`: the turn it was joined to; `steer`: the running turn it goes into. */
  | {
      readonly do: 'commit';
      readonly turn: number;
      readonly utterance: number;
      readonly text: string;
      readonly replaces: number | null;
      readonly steer: number | null;
    }
  | { readonly do: 'insert'; readonly utterance: number; readonly text: string }
  | { readonly do: 'ignored'; readonly utterance: number; readonly text: string; readonly reason: string }
  | { readonly do: 'say'; readonly turn: number; readonly text: string }
  | { readonly do: 'holdSound' }
  | { readonly do: 'releaseSound' }
  | { readonly do: 'pausePlayback' }
  | { readonly do: 'resumePlayback' }
  | { readonly do: 'flushPlayback' }
  | { readonly do: 'cancelTurn'; readonly turn: number; readonly reason: CancelReason }
  | { readonly do: 'storeHeard'; readonly turn: number }
  /** Forget audio and text; `keep`: the sound stays in the retry ring. */
  | { readonly do: 'drop'; readonly utterance: number; readonly keep: boolean }
  | { readonly do: 'startTimer'; readonly name: TimerName; readonly id: number; readonly ms: number }
  | { readonly do: 'stopTimer'; readonly name: TimerName }
  | { readonly do: 'notice'; readonly code: string; readonly figures?: Readonly<Record<string, number>> }
  /** The answer to a call that can't be done now. */
  | { readonly do: 'refuse'; readonly code: 'VOICE_BUSY' }
  | { readonly do: 'count'; readonly reason: string }
  | { readonly do: 'mark'; readonly name: 'committed' | 'firstAudioPlayed' | 'drained' };

export type OurTurn = {
  readonly id: number;
  readonly status: 'work' | 'parked' | 'ended';
  readonly text: string;
  readonly committedAtMs: number;
  /** Some of its sound was played. */
  readonly heard: boolean;
  readonly tool: 'none' | 'began' | 'running';
};

/** Set at creation; a change takes a new reducer state between turns. */
export type VoiceSettings = {
  /** VO-106. */
  readonly interruptByVoice: Readonly<Record<VoiceMode, boolean>>;
  /** Something answers `askEndOfTurn`. */
  readonly detector: boolean;
  readonly speculation: boolean;
  /** VO-12: the last utterance's sound may be kept for "try again". */
  readonly retryRing: boolean;
  /** VO-24: 90th percentile of the person's pauses; 0 = not known. */
  readonly ownPauseMs: number;
};

export const defaultVoiceSettings: VoiceSettings = {
  interruptByVoice: { 'push-to-talk': false, 'hands-free': true, 'wake-word': true },
  detector: false,
  speculation: false,
  retryRing: false,
  ownPauseMs: 0,
};

export type VoiceState = {
  readonly phase: VoicePhase;
  /** Only in `thinking`: someone speaks, and the sound of the answer is held until it is known whether that counts. */
  readonly guarded: boolean;
  readonly settings: VoiceSettings;
  /** `none` while off or failed. */
  readonly armedFor: 'none' | 'talk' | 'dictation';
  readonly lease: number;
  readonly leased: boolean;
  readonly mode: VoiceMode;
  readonly waitingMode: VoiceMode | null;
  readonly muted: boolean;
  readonly key: TalkKeyState;
  readonly keyAtMs: number;
  readonly by: ListeningBy;
  readonly purpose: Purpose;
  /** The listening that `hearing` came from and goes back to after a blip; `null`: there is none. */
  readonly cameFrom: ListeningBy | null;
  readonly windowEndsMs: number | null;
  readonly micOpen: boolean;
  /** Number of the last utterance; its recogniser is open while `asrOpen`. */
  readonly utterance: number;
  readonly asrOpen: boolean;
  readonly partial: { readonly text: string; readonly stable: boolean };
  readonly speechOn: boolean;
  readonly lastVoicedMs: number;
  readonly tailEndsMs: number;
  readonly speculated: string | null;
  readonly turn: OurTurn | null;
  readonly turnNumber: number;
  /** Whose sound is played in `speaking` and `held`; no turn stands behind a `say`. */
  readonly playing: { readonly id: number; readonly isTurn: boolean } | null;
  readonly soundHeld: boolean;
  /** The cancelled turn whose text the present utterance begins with. */
  readonly join: { readonly turn: number; readonly text: string } | null;
  readonly steer: number | null;
  readonly windowExtended: boolean;
  readonly falseHolds: number;
  readonly idleOver: boolean;
  /** In `failed` the cause, else a fault that waits for the next rest. */
  readonly fault: { readonly code: string; readonly restarts: boolean } | null;
  readonly deferred: readonly { readonly input: VoiceInput; readonly atMs: number }[];
  readonly timers: Readonly<Partial<Record<TimerName, number>>>;
  readonly timerNumber: number;
  /** Inputs that no row took. */
  readonly ignored: number;
};

/** Voice as it is before anyone switched it on (VO-13). `muted` comes from the store: it survives a restart. */
export function initialVoice(options: { mode?: VoiceMode; muted?: boolean; settings?: VoiceSettings } = {}): VoiceState {
  return {
    phase: 'off',
    guarded: false,
    settings: options.settings ?? defaultVoiceSettings,
    armedFor: 'none',
    lease: 0,
    leased: false,
    mode: options.mode ?? 'push-to-talk',
    waitingMode: null,
    muted: options.muted ?? false,
    key: 'none',
    keyAtMs: 0,
    by: 'key',
    purpose: 'talk',
    cameFrom: null,
    windowEndsMs: null,
    micOpen: false,
    utterance: 0,
    asrOpen: false,
    partial: { text: '', stable: false },
    speechOn: false,
    lastVoicedMs: 0,
    tailEndsMs: 0,
    speculated: null,
    turn: null,
    turnNumber: 0,
    playing: null,
    soundHeld: false,
    join: null,
    steer: null,
    windowExtended: false,
    falseHolds: 0,
    idleOver: false,
    fault: null,
    deferred: [],
    timers: {},
    timerNumber: 0,
    ignored: 0,
  };
}
