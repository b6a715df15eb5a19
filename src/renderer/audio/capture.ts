import { type AudioFrame, audio } from '../../shared/domain/audio.ts';
import type { Level } from '../../shared/domain/voiceSignal.ts';
import { AppError, isAppError, toAppError } from '../../shared/errors/appError.ts';
import { type Line, type LineDeps, openLine } from './captureLine.ts';

/** What is true of the microphone. Only `live` may be shown as "listening". `device` is its name, empty while it is not known. */
export type CaptureState =
  | { readonly phase: 'closed' }
  /** The device is being opened, or is open and has given nothing but zeros. */
  | { readonly phase: 'opening'; readonly device: string }
  | { readonly phase: 'live'; readonly device: string }
  | { readonly phase: 'silent'; readonly device: string }
  | { readonly phase: 'reopening' }
  | { readonly phase: 'muted' }
  | { readonly phase: 'failed'; readonly error: AppError };

/** Why what was being said ended: as `end` wished, or because something else came between. */
export type EndCause = 'ended' | 'muted' | 'deviceChanged' | 'closed';

type Talk = { readonly pressedAtMs: number; readonly preRollMs: number };

export type CaptureDeps = LineDeps & {
  /** A frame of what is being said; its samples are the receiver's. */
  readonly onFrame: (frame: AudioFrame) => void;
  /** What `begin` opened is complete: once for each `begin` that was taken. */
  readonly onEnded: (cause: EndCause) => void;
  readonly onLevel: (level: Level) => void;
  /** MIC_SILENT, VOICE_DEVICE_CHANGED, DEVICE_LOST: once each time. */
  readonly onNotice: (error: AppError) => void;
};

export type Capture = {
  get(): CaptureState;
  subscribe(listener: () => void): () => void;
  /**
   * Opens the microphone of this name, or the system's own (null). One that is open is closed first.
   *
   * @throws AppError MIC_MUTED, MIC_DENIED, MIC_MISSING, MIC_UNREADABLE, UNSUPPORTED; CANCELLED if it was closed or muted meanwhile.
   */
  open(device: string | null): Promise<void>;
  /**
   * Frames go out from now on, those before the key first. While the microphone is still being opened they begin with it.
   *
   * @param pressedAtMs  when the key went down, on the monotonic clock; a busy page notices it late.
   * @param preRollMs    how much before that; no more than the ring holds.
   * @returns            false where no microphone is open or being opened: nothing comes, and no end either.
   */
  begin(pressedAtMs?: number, preRollMs?: number): boolean;
  end(tailMs?: number): void;
  /** Stops the track and forgets all sound that is held. It stays closed when the mute is lifted: to open is a deed of its own. */
  setMuted(muted: boolean): void;
  close(): void;
};

/** The microphone of the page: opening, losing and finding it again, and what of it may be believed. */
export function createCapture(deps: CaptureDeps): Capture {
  const { clock } = deps;
  const listeners = new Set<() => void>();
  let state: CaptureState = { phase: 'closed' };
  let line: Line | null = null;
  /** A lost one that still lets its last frame out. */
  let leaving: Line | null = null;
  let wanted: string | null = null;
  let opening: AbortController | null = null;
  let stopWaiting = () => {};
  /** What was begun and has not ended, oldest first: a new press may come while the tail of the one before is still on its way. */
  const talks: Talk[] = [];

  const become = (next: CaptureState) => {
    state = next;
    for (const listener of [...listeners]) listener();
  };
  const endTalk = (cause: EndCause) => {
    if (talks.shift() !== undefined) deps.onEnded(cause);
  };
  const endTalks = (cause: EndCause) => {
    while (talks.length > 0) endTalk(cause);
  };
  const abandon = () => {
    opening?.abort();
    opening = null;
    stopWaiting();
    line?.drop();
    leaving?.drop();
    line = null;
    leaving = null;
  };
  const sendBegin = (to: Line, { pressedAtMs, preRollMs }: Talk) => {
    const late = Math.max(0, clock.monotonicMs() - pressedAtMs);
    to.send({ type: 'begin', preRollMs: Math.min(audio.ringMs, preRollMs + late) });
  };
  const openNow = async (): Promise<void> => {
    const mine = new AbortController();
    opening = mine;
    let heard = false;
    try {
      const opened = await openLine(
        deps,
        wanted,
        {
          onFrame: deps.onFrame,
          onEnded: () => endTalk(leaving === null ? 'ended' : 'deviceChanged'),
          onLevel: deps.onLevel,
          onSound: (change) => {
            const device = line?.device ?? '';
            heard = change === 'sound';
            become({ phase: change === 'sound' ? 'live' : 'silent', device });
            if (change === 'silent') deps.onNotice(new AppError('MIC_SILENT', { device }));
          },
          onLost: lost,
        },
        mine.signal,
      );
      if (mine.signal.aborted) {
        opened.drop();
        throw new AppError('CANCELLED');
      }
      line = opened;
      become({ phase: heard ? 'live' : 'opening', device: opened.device });
      // Of several only the newest is still being said.
      while (talks.length > 1) endTalk('ended');
      if (talks[0] !== undefined) sendBegin(opened, talks[0]);
    } catch (error) {
      // Chromium says so also of what was stopped while it was being opened.
      throw mine.signal.aborted ? new AppError('CANCELLED', {}, { cause: error }) : toAppError(error);
    } finally {
      if (opening === mine) opening = null;
    }
  };
  const lost = () => {
    const old = line;
    if (old === null) return;
    line = null;
    leaving = old;
    become({ phase: 'reopening' });
    old.finish().then(() => {
      // Muted, closed or opened anew meanwhile.
      if (leaving !== old) return;
      endTalks('deviceChanged');
      leaving = null;
      reopen(1);
    }, deps.onError);
  };
  const reopen = (tries: number) => {
    openNow().then(
      () => deps.onNotice(new AppError('VOICE_DEVICE_CHANGED', { device: line?.device ?? '' })),
      (error: unknown) => {
        if (isAppError(error, 'CANCELLED')) return;
        if (tries < audio.reopenTries) {
          stopWaiting = clock.setTimer(audio.reopenEveryMs, () => reopen(tries + 1));
          return;
        }
        const gone = new AppError('DEVICE_LOST', { kind: 'input' }, { cause: error });
        endTalks('deviceChanged');
        become({ phase: 'failed', error: gone });
        deps.onNotice(gone);
      },
    );
  };
  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async open(device) {
      if (state.phase === 'muted') throw new AppError('MIC_MUTED');
      abandon();
      wanted = device;
      become({ phase: 'opening', device: device ?? '' });
      try {
        await openNow();
      } catch (error) {
        const failed = toAppError(error);
        if (failed.code !== 'CANCELLED') {
          become({ phase: 'failed', error: failed });
          endTalks('closed');
        }
        throw failed;
      }
    },
    begin(pressedAtMs = clock.monotonicMs(), preRollMs = audio.preRollMs) {
      if (line === null && opening === null) return false;
      const talk = { pressedAtMs, preRollMs };
      talks.push(talk);
      if (line !== null) sendBegin(line, talk);
      return true;
    },
    end(tailMs = audio.tailMs) {
      if (talks.length === 0) return;
      if (line === null) endTalks('ended');
      else line.send({ type: 'end', tailMs });
    },
    setMuted(muted) {
      if (muted === (state.phase === 'muted')) return;
      if (!muted) return become({ phase: 'closed' });
      abandon();
      become({ phase: 'muted' });
      endTalks('muted');
    },
    close() {
      abandon();
      if (state.phase !== 'muted') become({ phase: 'closed' });
      endTalks('closed');
    },
  };
}
