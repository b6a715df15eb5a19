import type { LineDown, LineUp } from '../../../shared/contract/voiceLine.ts';
import { type AudioFrame, audio } from '../../../shared/domain/audio.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { createFrameMender } from '../../../shared/util/audioFrames.ts';
import type { MicrophoneGate } from '../ports.ts';

type MicUp = Extract<LineUp, { t: 'mic' }>;

/** The page's microphone as the runtime steers it: grant first, then open; and which of its frames count. */
export type Microphone = {
  open(): void;
  close(): void;
  /** After the effects of one step: closing and opening in one go is nothing to the device. */
  settle(): void;
  /** What is said from now on, and this much before it. Waits for a microphone that is still being opened. */
  begin(preRollMs: number): void;
  /** Resolves when the last frame of it is here; at once if nothing is open. */
  end(tailMs: number): Promise<void>;
  /** What was begun is not wanted any more. */
  abandon(): void;
  up(mic: MicUp): void;
  /** The page sent the last frame of what was begun. */
  ended(): void;
  /** A frame of the owner's line. */
  frame(frame: AudioFrame): void;
  isOpen(): boolean;
  device(): string;
  soundArrived(): boolean;
  /** The page said that nothing but zeros comes. */
  isSilent(): boolean;
  counts(): MicrophoneCounts;
};

/** Frames since the start: taken, thrown away while nothing was begun, and what the line lost. */
export type MicrophoneCounts = { readonly taken: number; readonly unasked: number; readonly filled: number; readonly stale: number };

export type MicrophoneEvents = {
  opened(): void;
  /** It could not be opened: the gate's or the page's reason. */
  failed(error: AppError): void;
  /** The first frame that is not all zeros came. */
  live(): void;
  silent(): void;
  changed(): void;
  lost(): void;
  /** In order, without holes. */
  frame(frame: AudioFrame): void;
};

export function createMicrophone(deps: {
  gate: MicrophoneGate;
  /** The device that the person chose, null for the system's own. */
  chosen: () => string | null;
  send: (down: LineDown) => void;
  /** What a code of the page means. */
  errorOf: (code: string, device: string) => AppError;
  on: MicrophoneEvents;
}): Microphone {
  const { gate, chosen, send, errorOf, on } = deps;
  let wanted = false;
  let status: 'closed' | 'granting' | 'opening' | 'open' = 'closed';
  let grants = 0;
  let device = '';
  let sound = false;
  let silent = false;
  /** `begin`s that were sent and `ended`s that came since the device was opened: a frame belongs to the capture `ends + 1`. */
  let begins = 0;
  let ends = 0;
  /** The capture whose frames are taken; null: none. */
  let taking: number | null = null;
  /** A begin that waits for the device. */
  let waiting: number | null = null;
  let mender = createFrameMender(audio.ringMs);
  let resolveEnd: (() => void) | null = null;
  const counts = { taken: 0, unasked: 0, filled: 0, stale: 0 };

  const settleEnd = () => {
    taking = null;
    const resolve = resolveEnd;
    resolveEnd = null;
    resolve?.();
  };
  const forget = () => {
    begins = 0;
    ends = 0;
    waiting = null;
    settleEnd();
  };
  const sendBegin = (preRollMs: number) => {
    begins += 1;
    taking = begins;
    mender = createFrameMender(audio.ringMs);
    send({ t: 'begin', preRollMs });
  };
  const grant = () => {
    status = 'granting';
    grants += 1;
    const mine = grants;
    const isMine = () => mine === grants && status === 'granting';
    gate.grant().then(
      () => {
        if (!isMine()) return gate.release();
        status = 'opening';
        send({ t: 'openMic', device: chosen() });
      },
      (error: unknown) => {
        if (!isMine()) return;
        status = 'closed';
        wanted = false;
        on.failed(toAppError(error));
      },
    );
  };
  const shut = () => {
    if (status !== 'granting') {
      send({ t: 'closeMic' });
      gate.release();
    }
    status = 'closed';
    sound = false;
    silent = false;
    forget();
  };
  return {
    open() {
      wanted = true;
    },
    close() {
      wanted = false;
    },
    settle() {
      if (wanted && status === 'closed') grant();
      else if (!wanted && status !== 'closed') shut();
    },
    begin(preRollMs) {
      if (status === 'open') sendBegin(preRollMs);
      else waiting = preRollMs;
    },
    end(tailMs) {
      waiting = null;
      if (taking === null) return Promise.resolve();
      send({ t: 'end', tailMs });
      return new Promise((resolve) => {
        resolveEnd = resolve;
      });
    },
    abandon() {
      waiting = null;
      if (taking === null) return;
      // Whoever waits for the end has already said so.
      if (resolveEnd === null) send({ t: 'end', tailMs: 0 });
      settleEnd();
    },
    up({ state, device: name, code }) {
      if (status !== 'opening' && status !== 'open') return;
      if (name !== '') device = name;
      switch (state) {
        case 'opened': {
          const begin = waiting;
          forget();
          status = 'open';
          on.opened();
          if (begin !== null) sendBegin(begin);
          return;
        }
        case 'live':
          silent = false;
          if (sound) return;
          sound = true;
          return on.live();
        case 'silent':
          sound = false;
          silent = true;
          return on.silent();
        case 'changed':
          sound = false;
          silent = false;
          forget();
          return on.changed();
        case 'lost':
          sound = false;
          forget();
          return on.lost();
        case 'failed':
          // The page has nothing to close any more; the lease goes back.
          wanted = false;
          shut();
          return on.failed(errorOf(code ?? 'MIC_UNREADABLE', name));
        case 'closed':
          return;
      }
    },
    ended() {
      if (ends < begins) ends += 1;
      if (taking !== null && taking <= ends) settleEnd();
    },
    frame(frame) {
      if (taking === null || taking !== ends + 1) {
        counts.unasked += 1;
        return;
      }
      counts.taken += 1;
      const before = mender.counts();
      const frames = mender.accept(frame);
      const after = mender.counts();
      counts.filled += after.filled - before.filled;
      counts.stale += after.stale - before.stale;
      for (const one of frames) on.frame(one);
    },
    isOpen: () => status === 'open',
    device: () => device,
    soundArrived: () => sound,
    isSilent: () => silent,
    counts: () => ({ ...counts }),
  };
}
