import { createStore, type StoreApi } from 'zustand/vanilla';
import { type AudioFrame, audio, msOf } from '../../../shared/domain/audio.ts';
import type { Level } from '../../../shared/domain/voiceSignal.ts';
import { AppError, toAppError } from '../../../shared/errors/appError.ts';
import type { Clock } from '../../../shared/util/clock.ts';
import { joinSamples } from '../../../shared/util/samples.ts';
import { type Capture, type CaptureState, createCapture } from '../../audio/capture.ts';
import { type Line, type LineDeps, openLine } from '../../audio/captureLine.ts';
import { choices, pickDevice, watchDevices } from '../../audio/devices.ts';
import { openPlayback, type Playback } from '../../audio/playback.ts';
import type { Sound } from '../../audio/sound.ts';
import type { Api } from '../../lib/connection.ts';
import { checkSound, type SoundCheck } from '../../lib/soundCheck.ts';

export const microphoneLimits = {
  /** What a recording holds at most; it lies in memory and nowhere else. */
  recordMs: 5_000,
  /** Devices that are listened to at once; each is a stream of its own. */
  devices: 6,
  /** A meter is redrawn so often, and with reduced motion four times a second (UX-276). */
  meterMs: 100,
  stillMeterMs: 250,
} as const;

export type MicrophoneView = {
  /** Before a press nobody is asked and nothing is opened. */
  readonly phase: 'off' | 'asking' | 'on' | 'failed';
  /** Why it failed. */
  readonly error: AppError | null;
  readonly capture: CaptureState;
  /** What came between: MIC_SILENT, VOICE_DEVICE_CHANGED. */
  readonly notice: AppError | null;
  /** Names of the microphones that can be chosen, as the system gives them. */
  readonly devices: readonly string[];
  /** Those that are there and not listened to at the same time. */
  readonly unheard: number;
  /** Name of the system's own. */
  readonly system: string;
  readonly levels: ReadonlyMap<string, Level>;
  readonly recording: 'none' | 'recording' | 'done' | 'playing';
  readonly recordedMs: number;
  readonly check: SoundCheck | null;
  /** It was recorded and cannot be played. */
  readonly mute: boolean;
};

export type MicrophoneDeps = {
  readonly api: Pick<Api, 'voice'>;
  readonly clock: Clock;
  readonly sound: Sound;
  readonly still: boolean;
};

export type Microphone = {
  readonly view: StoreApi<MicrophoneView>;
  /** Asks the system and opens the microphone of this name, null for the system's own. */
  turnOn(device: string | null): void;
  choose(device: string | null): void;
  record(): void;
  stopRecording(): void;
  /** Through the loudspeaker of this name. */
  play(loudspeaker: string | null): void;
  stopPlaying(): void;
  /** Closes all devices, ends the lease and forgets what was recorded. */
  close(): void;
};

/** The meter of the chosen microphone, whatever its name is. */
export const chosenKey = '';

const off: MicrophoneView = {
  phase: 'off',
  error: null,
  capture: { phase: 'closed' },
  notice: null,
  devices: [],
  unheard: 0,
  system: '',
  levels: new Map(),
  recording: 'none',
  recordedMs: 0,
  check: null,
  mute: false,
};

/** The microphone test of first run (VO-11, first half): levels of all devices, one recording in memory, and how it sounds. */
export function createMicrophone(deps: MicrophoneDeps): Microphone {
  const { api, clock, sound } = deps;
  const { media } = sound;
  const view = createStore<MicrophoneView>(() => off);
  const set = (change: Partial<MicrophoneView>) => view.setState(change);
  // What fails while something is closed changes nothing that is shown.
  const lineDeps: LineDeps = { media, clock, openNode: (stream, onMessage) => sound.openCaptureNode(stream, onMessage), onError: () => {} };
  const peeks = new Map<string, { abort: AbortController; line: Line | null }>();
  const pending = new Map<string, Level>();
  let lease: AbortController | null = null;
  let wanted: string | null = null;
  let frames: AudioFrame[] = [];
  let playback: Playback | null = null;
  let stopTimer: (() => void) | null = null;
  let unwatch = () => {};

  const onLevel = (key: string, level: Level) => {
    const before = pending.get(key);
    // Between two pictures the loudest counts, so that no peak is missed.
    const loudest = before === undefined || level.rms >= before.rms ? level : before;
    pending.set(key, { ...loudest, floor: level.floor, clipped: level.clipped || before?.clipped === true });
    stopTimer ??= clock.setTimer(deps.still ? microphoneLimits.stillMeterMs : microphoneLimits.meterMs, () => {
      stopTimer = null;
      set({ levels: new Map([...view.getState().levels, ...pending]) });
      pending.clear();
    });
  };

  const capture: Capture = createCapture({
    ...lineDeps,
    onFrame(frame) {
      if (view.getState().recording !== 'recording') return;
      frames.push(frame);
      const recordedMs = msOf(frames.length * audio.frameSamples, audio.rateHz);
      set({ recordedMs });
      if (recordedMs >= microphoneLimits.recordMs) capture.end(0);
    },
    onEnded() {
      if (view.getState().recording !== 'recording') return;
      set(frames.length === 0 ? { recording: 'none', recordedMs: 0 } : { recording: 'done', check: checkSound(frames) });
    },
    onLevel: (level) => onLevel(chosenKey, level),
    onNotice: (notice) => set({ notice }),
  });
  capture.subscribe(() => {
    const now = capture.get();
    if (view.getState().phase === 'off') return;
    if (now.phase === 'failed') return fail(now.error);
    set({ capture: now, ...(now.phase === 'live' && view.getState().notice?.code === 'MIC_SILENT' ? { notice: null } : {}) });
  });

  const drop = (name: string) => {
    const peek = peeks.get(name);
    peeks.delete(name);
    peek?.abort.abort();
    peek?.line?.drop();
  };
  const dropAll = () => {
    for (const name of [...peeks.keys()]) drop(name);
  };
  const silence = () => {
    void playback?.close();
    playback = null;
  };
  const endAll = () => {
    unwatch();
    unwatch = () => {};
    stopTimer?.();
    stopTimer = null;
    pending.clear();
    dropAll();
    capture.close();
    lease?.abort();
    lease = null;
  };
  const fail = (error: AppError) => {
    endAll();
    set({ phase: 'failed', error, capture: { phase: 'closed' }, levels: new Map(), recording: 'none' });
  };

  /** Listens to every device beside the chosen one, for its level alone. */
  const peek = (names: readonly string[], chosen: string) => {
    const others = names.filter((name) => name !== chosen).slice(0, microphoneLimits.devices - 1);
    for (const name of [...peeks.keys()]) if (!others.includes(name)) drop(name);
    for (const name of others) {
      if (peeks.has(name)) continue;
      const mine = { abort: new AbortController(), line: null as Line | null };
      peeks.set(name, mine);
      const events = {
        onFrame: () => {},
        onEnded: () => {},
        onSound: () => {},
        onLost: () => drop(name),
        onLevel: (level: Level) => onLevel(name, level),
      };
      // One that gives nothing shows no level; it is named when it is chosen.
      openLine(lineDeps, name, events, mine.abort.signal).then(
        (line) => {
          if (mine.abort.signal.aborted) line.drop();
          else mine.line = line;
        },
        () => {},
      );
    }
  };
  const look = () => {
    if (media === undefined) return;
    unwatch();
    unwatch = watchDevices(
      media,
      ({ inputs }) => {
        const names = choices(inputs).flatMap(({ name }) => (name === '' ? [] : [name]));
        const system = ownName(names, pickDevice(inputs, null)?.name ?? '');
        const chosen = wanted !== null && names.includes(wanted) ? wanted : system;
        const unheard = Math.max(0, names.length - microphoneLimits.devices);
        set({ devices: names, system, unheard });
        peek(names, chosen);
      },
      () => {},
    );
  };

  const open = async (device: string | null) => {
    wanted = device;
    try {
      await capture.open(device);
      look();
      set({ phase: 'on', error: null, capture: capture.get() });
    } catch (error) {
      const failed = toAppError(error);
      if (failed.code !== 'CANCELLED') fail(failed);
    }
  };
  const hold = async (device: string | null) => {
    const mine = new AbortController();
    lease = mine;
    try {
      for await (const _ of await api.voice.testMicrophone({}, { signal: mine.signal })) await open(device);
      // Muted, or the runtime is gone: the lease is over, and with it the microphone.
      if (!mine.signal.aborted) fail(new AppError('RUNTIME_UNAVAILABLE'));
    } catch (error) {
      if (!mine.signal.aborted) fail(toAppError(error));
    }
  };

  return {
    view,
    turnOn(device) {
      endAll();
      set({ ...off, phase: 'asking' });
      void hold(device);
    },
    choose(device) {
      if (view.getState().phase !== 'on') return;
      silence();
      frames = [];
      dropAll();
      set({ levels: new Map(), recording: 'none', recordedMs: 0, check: null, notice: null });
      void open(device);
    },
    record() {
      silence();
      frames = [];
      set({ recording: 'recording', recordedMs: 0, check: null, mute: false });
      capture.begin();
    },
    stopRecording: () => capture.end(0),
    play(loudspeaker) {
      silence();
      const pcm = joinSamples(frames.map(({ samples }) => samples));
      if (pcm.length === 0) return;
      set({ recording: 'playing', mute: false });
      const over = () => {
        silence();
        if (view.getState().recording === 'playing') set({ recording: 'done' });
      };
      openPlayback({
        media,
        clock,
        openNode: (onMessage) => sound.openPlaybackNode(onMessage),
        onEvent: (event) => event.type === 'drained' && over(),
        onLost: () => set({ mute: true }),
        onError: () => {},
      })
        .then(async (opened) => {
          playback = opened;
          if (view.getState().recording !== 'playing') return over();
          // One that is gone leaves the system's own.
          await opened.setOutput(loudspeaker).catch(() => {});
          opened.play({ generation: 1, phrase: 0, last: true, range: { from: 0, to: 0 }, rateHz: audio.rateHz, pcm });
          opened.finish(1);
        })
        .catch(() => {
          set({ mute: true });
          over();
        });
    },
    stopPlaying() {
      silence();
      if (view.getState().recording === 'playing') set({ recording: 'done' });
    },
    close() {
      silence();
      endAll();
      frames = [];
      view.setState(off, true);
    },
  };
}

/** Chromium names the system's own "Default - NAME"; it is the NAME of the list. */
function ownName(names: readonly string[], system: string): string {
  return names.find((name) => system === name || system.endsWith(` - ${name}`)) ?? system;
}
