import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Settings } from '../../shared/contract/settings.ts';
import type { SessionId, TurnId } from '../../shared/domain/ids.ts';
import type { VoicePhase } from '../../shared/domain/voice.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Media } from '../audio/devices.ts';
import type { Sound } from '../audio/sound.ts';
import type { Api } from './connection.ts';
import { createLevelHistory, type LevelHistory } from './levelHistory.ts';
import type { Live } from './live.ts';
import type { Transport } from './transport.ts';
import type { Played, VoiceSession } from './voiceSession.ts';

export type VoicePageState = {
  /** The line of this page; null while it has none. `voice.phase` names the one that holds the microphone. */
  readonly line: string | null;
  /** Voice was asked to turn on, and the runtime has not answered. */
  readonly turningOn: boolean;
  /** Why the last wish failed, or why the sound of this page ended; nothing newer is known. */
  readonly error: AppError | null;
  /** No loudspeaker: what is said is captions alone. */
  readonly outputLost: AppError | null;
  /** How far the loudspeaker of this page is in the answer; null where it plays none. */
  readonly played: Played | null;
  /** The newest press: in which chat, and which spoken turn was known then. */
  readonly asked: { readonly sessionId: SessionId | null; readonly after: TurnId | null } | null;
};

/** Talking in this page: what a person does, and what this page alone knows. All else is `live.voice`. */
export type PageVoice = {
  readonly state: StoreApi<VoicePageState>;
  readonly levels: LevelHistory;
  /** Whether a press would talk; else it turns voice on. */
  mayTalk(): boolean;
  /** Whether Esc and Stop have something of voice to end. */
  isBusy(): boolean;
  turnOn(): void;
  turnOff(): void;
  /**
   * The talk key or button goes down. While voice is off it turns voice on, and records nothing.
   *
   * @param sessionId  the chat in front.
   * @param atMs       when it happened, on the monotonic clock; now if it is not given.
   */
  press(sessionId: SessionId | null, atMs?: number): void;
  release(): void;
  /** Esc and Stop: what is being said is dropped, an answer is silenced and ended. */
  cancel(): void;
  setMuted(muted: boolean): void;
  dismiss(): void;
  /** Shows what another part of talking could not do. */
  fail(thrown: unknown): void;
  /** The devices of this page; undefined where it is no secure context, or before `preload` has ended. */
  media(): Media | undefined;
  /** Fetches what talking needs, ahead of the first press. */
  preload(): void;
  close(): void;
};

/** The same event as two messages on two ways. */
const oneEventMs = 2_000;

/** States in which there is something to end. */
const busy: readonly VoicePhase[] = ['listening', 'hearing', 'pausing', 'committing', 'thinking', 'speaking', 'held'];

export function createPageVoice(deps: {
  openVoice: Transport['openVoice'];
  api: Api;
  clock: Clock;
  live: { voice: StoreApi<Live<VoiceView>>; settings: StoreApi<Live<Settings>> };
  /** The devices, where they are not the real ones. */
  sound?: Sound | undefined;
}): PageVoice {
  const { api, live } = deps;
  const state = createStore<VoicePageState>(() => ({
    line: null,
    turningOn: false,
    error: null,
    outputLost: null,
    played: null,
    asked: null,
  }));
  const levels = createLevelHistory();
  let session: VoiceSession | null = null;
  let loading: Promise<VoiceSession> | null = null;
  let turningOn: Promise<void> | null = null;
  let pressed = false;
  /** When the runtime last said that this page no longer has the microphone, without having been asked to. */
  let heldUntilMs: number | null = null;
  let closed = false;
  let media: Media | undefined = deps.sound?.media;

  const view = () => {
    const { value, fresh } = live.voice.getState();
    return fresh ? value : null;
  };
  const isHeld = () => {
    const now = view();
    return now !== null && now.phase !== 'off' && now.line !== null && now.line === state.getState().line;
  };
  const choices = () => {
    const value = live.settings.getState().value;
    return { microphone: value?.microphone ?? null, loudspeaker: value?.loudspeaker ?? null, tones: value?.tones ?? true };
  };
  const fail = (thrown: unknown) => {
    const error = toAppError(thrown);
    // The runtime says by the phase what it could not do; what is said here is what it could not say.
    if (error.code !== 'CANCELLED' && !closed) state.setState({ error });
  };
  const load = (): Promise<VoiceSession> => {
    loading ??= Promise.all([
      import('./voiceSession.ts'),
      deps.sound ?? import('../audio/browserSound.ts').then(({ browserSound }) => browserSound),
    ]).then(
      ([{ createVoiceSession }, sound]) => {
        const made = createVoiceSession({
          openVoice: deps.openVoice,
          sound,
          clock: deps.clock,
          choices,
          onLevel: (level) => levels.push(level, view()?.phase === 'hearing'),
          onClosed: levels.clear,
          onPlayed: (played) => state.setState({ played }),
          onOutput: (outputLost) => state.setState({ outputLost }),
          onLineLost() {
            // The view may come before the end of the line, or after it.
            const held = isHeld() || (heldUntilMs !== null && deps.clock.monotonicMs() - heldUntilMs <= oneEventMs);
            heldUntilMs = null;
            pressed = false;
            state.setState({ line: null, played: null, ...(held ? { error: new AppError('VOICE_LINE_UNKNOWN') } : {}) });
          },
          // A stream that was being closed, a context that had ended: there is nothing to do about it.
          onError: () => undefined,
        });
        session = made;
        media = sound.media;
        if (closed) made.close();
        return made;
      },
      (thrown: unknown) => {
        loading = null;
        throw thrown;
      },
    );
    return loading;
  };
  const armOnce = async (made: VoiceSession): Promise<void> => {
    const line = await made.ready();
    state.setState({ line });
    await api.voice.arm({ line });
  };
  const turnOn = () => {
    if (turningOn !== null || closed) return;
    state.setState({ turningOn: true, error: null });
    turningOn = load()
      .then(async (made) => {
        try {
          await armOnce(made);
        } catch (thrown) {
          if (toAppError(thrown).code !== 'VOICE_LINE_UNKNOWN') throw thrown;
          // The line died unnoticed: once more over a new one.
          made.dropLine();
          await armOnce(made);
        }
      })
      .catch(fail)
      .finally(() => {
        turningOn = null;
        state.setState({ turningOn: false });
      });
  };
  const mayTalk = () => {
    const now = view();
    return now !== null && now.phase !== 'off' && now.phase !== 'failed' && now.line !== null && now.line === state.getState().line;
  };

  let phase: VoicePhase = 'off';
  let wasHeld = false;
  let utterance: number | null = null;
  const unwatch = live.voice.subscribe(() => {
    const now = view();
    const next = now?.phase ?? 'off';
    if (next !== phase) {
      if (next === 'listening' && (phase === 'standby' || phase === 'arming' || phase === 'thinking' || phase === 'speaking'))
        levels.begin();
      if (next === 'off') session?.rest();
      phase = next;
    }
    const held = isHeld();
    if (wasHeld && !held) heldUntilMs = deps.clock.monotonicMs();
    wasHeld = held;
    const newest = now?.caption?.utterance ?? null;
    if (newest !== utterance) {
      utterance = newest;
      state.setState({ played: null });
    }
    const { error, line } = state.getState();
    // What went wrong is over once this page can be talked to.
    if (error !== null && turningOn === null && line !== null && now?.line === line && next !== 'off' && next !== 'failed')
      state.setState({ error: null });
  });
  let chosen = choices();
  const unwatchSettings = live.settings.subscribe(() => {
    const next = choices();
    const changed = next.microphone !== chosen.microphone || next.loudspeaker !== chosen.loudspeaker;
    chosen = next;
    if (changed) session?.choose();
  });

  return {
    state,
    levels,
    mayTalk,
    isBusy() {
      const now = view();
      return now !== null && busy.includes(now.phase);
    },
    turnOn,
    turnOff() {
      wasHeld = false;
      api.voice.disarm({}).catch(fail);
    },
    press(sessionId, atMs = deps.clock.monotonicMs()) {
      if (!mayTalk() || session === null) return turnOn();
      pressed = true;
      state.setState({ asked: { sessionId, after: view()?.turnId ?? null }, error: null });
      session.key(true, sessionId, atMs);
    },
    release() {
      if (!pressed) return;
      pressed = false;
      session?.key(false, state.getState().asked?.sessionId ?? null, deps.clock.monotonicMs());
    },
    cancel() {
      api.voice.cancel({}).catch(fail);
    },
    setMuted(muted) {
      const settled = muted ? session?.mute() : undefined;
      api.voice.mute({ muted }).then(
        () => settled?.(),
        (thrown: unknown) => {
          settled?.();
          fail(thrown);
        },
      );
    },
    dismiss: () => state.setState({ error: null }),
    fail,
    media: () => media,
    preload: () => void load().catch(() => undefined),
    close() {
      closed = true;
      unwatch();
      unwatchSettings();
      session?.close();
    },
  };
}
