import { type LineDown, type LineUp, parseLineDown } from '../../shared/contract/voiceLine.ts';
import { type AudioFrame, audio, msOf, type SoundChunk } from '../../shared/domain/audio.ts';
import type { SessionId } from '../../shared/domain/ids.ts';
import type { Level } from '../../shared/domain/voiceSignal.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import { decodeChunk, encodeFrame, frameBytes } from '../../shared/util/audioWire.ts';
import type { Clock } from '../../shared/util/clock.ts';
import { deferred } from '../../shared/util/deferred.ts';
import { createCapture } from '../audio/capture.ts';
import { openPlayback, type Playback } from '../audio/playback.ts';
import type { PlaybackEvent } from '../audio/playbackCore.ts';
import type { Sound } from '../audio/sound.ts';
import type { Transport, VoiceLink } from './transport.ts';

/** How far the loudspeaker is in a phrase. `totalMs` grows while the phrase is made; `complete`: it is the whole length. */
export type Played = {
  readonly generation: number;
  readonly phrase: number;
  readonly ms: number;
  readonly totalMs: number;
  readonly complete: boolean;
};

export type SessionDeps = {
  readonly openVoice: Transport['openVoice'];
  readonly sound: Sound;
  readonly clock: Clock;
  /** What a person chose, as it is now. */
  readonly choices: () => { readonly microphone: string | null; readonly loudspeaker: string | null; readonly tones: boolean };
  readonly onLevel: (level: Level) => void;
  /** The microphone is closed. */
  readonly onClosed: () => void;
  readonly onPlayed: (played: Played) => void;
  /** There is no loudspeaker; null: there is one again. */
  readonly onOutput: (lost: AppError | null) => void;
  readonly onLineLost: () => void;
  /** What failed while something was closed; nobody can be told more. */
  readonly onError: (error: unknown) => void;
};

/** The sound of a page: its line to the runtime, and microphone and loudspeaker as the runtime asks for them. */
export type VoiceSession = {
  /**
   * Opens loudspeaker and line where they are not open. Needs a deed of the person before it, as browsers ask for sound.
   *
   * @returns  the line's id.
   * @throws AppError RUNTIME_UNAVAILABLE and what else a transport names; VOICE_LINE_UNKNOWN if the line does not name itself.
   */
  ready(): Promise<string>;
  /** Gives this line up, so that `ready` opens a new one. */
  dropLine(): void;
  /** @param atMs  when it happened, on the monotonic clock. */
  key(down: boolean, sessionId: SessionId | null, atMs: number): void;
  /**
   * At once, whatever the runtime says meanwhile: the track is stopped and what lies in buffers is forgotten.
   *
   * @returns  to be called when the runtime knows; from then on it may open the microphone again.
   */
  mute(): () => void;
  /** The choices changed: another microphone or loudspeaker is taken while it is open. */
  choose(): void;
  /** Voice is off: the loudspeaker is given back, the line stays. */
  rest(): void;
  close(): void;
};

/** The runtime names a line in its first message. */
const lineNameMs = 5_000;

export function createVoiceSession(deps: SessionDeps): VoiceSession {
  const { clock } = deps;
  const ended = new AbortController();
  let link: VoiceLink | null = null;
  let opening: Promise<string> | null = null;

  const send = (message: LineUp) => link?.send(JSON.stringify(message));

  // Microphone
  let wanted: string | null = null;
  /** What the runtime was told of the microphone. */
  let told: 'open' | 'opening' | 'closed' = 'closed';
  let toldSound: 'live' | 'silent' | null = null;
  let pressedAtMs: number | null = null;
  let muting = false;
  let cue = false;
  let seq = 0;
  /** Frames that wait for a slow line, oldest first (VO-02). */
  let waiting: Uint8Array<ArrayBuffer>[] = [];

  const flush = (all: boolean) => {
    while (link !== null && (all || link.waiting() < audio.waitingFrames * frameBytes)) {
      const bytes = waiting.shift();
      if (bytes === undefined) return;
      link.send(bytes);
    }
    // Their numbers are missing then, and the runtime fills them with silence.
    if (waiting.length > audio.waitingFrames) waiting = waiting.slice(-audio.waitingFrames);
  };
  const onFrame = (frame: AudioFrame) => {
    // One count for the line: a microphone that is opened anew begins at 0 again.
    waiting.push(encodeFrame({ ...frame, seq }));
    seq = (seq + 1) >>> 0;
    flush(false);
  };
  const tellEnded = () => {
    flush(true);
    send({ t: 'ended' });
  };
  const capture = createCapture({
    media: deps.sound.media,
    clock,
    openNode: (stream, onMessage) => deps.sound.openCaptureNode(stream, onMessage),
    onFrame,
    onEnded: tellEnded,
    onLevel: deps.onLevel,
    onNotice(error) {
      if (error.code === 'VOICE_DEVICE_CHANGED') tellOpen('changed');
      if (error.code === 'DEVICE_LOST') tellClosed('lost');
    },
    onError: deps.onError,
  });
  const deviceName = (name: string) => name.slice(0, 512);
  const tellOpen = (state: 'opened' | 'changed') => {
    const now = capture.get();
    told = 'open';
    toldSound = null;
    send({ t: 'mic', state, device: deviceName('device' in now ? now.device : '') });
    tellSound();
  };
  const tellSound = () => {
    const now = capture.get();
    if (told !== 'open' || (now.phase !== 'live' && now.phase !== 'silent') || toldSound === now.phase) return;
    toldSound = now.phase;
    send({ t: 'mic', state: now.phase, device: deviceName(now.device) });
    if (now.phase === 'live' && cue) playTone('listening');
  };
  const tellClosed = (state: 'closed' | 'lost' | 'failed', code?: string) => {
    told = 'closed';
    cue = false;
    send({ t: 'mic', state, device: '', ...(code === undefined ? {} : { code }) });
    deps.onClosed();
  };
  capture.subscribe(() => {
    const { phase } = capture.get();
    if (phase === 'reopening') told = 'opening';
    if ((phase === 'closed' || phase === 'muted') && told !== 'closed') tellClosed('closed');
    tellSound();
  });
  const openMic = (device: string | null, how: 'opened' | 'changed') => {
    if (muting) return tellClosed('failed', 'MIC_MUTED');
    // The runtime asks only when nothing is muted.
    capture.setMuted(false);
    wanted = device;
    told = 'opening';
    capture.open(device).then(
      () => tellOpen(how),
      (thrown: unknown) => {
        const error = toAppError(thrown);
        // Closed, muted or opened anew meanwhile: whoever did that says so.
        if (error.code !== 'CANCELLED') tellClosed('failed', error.code);
      },
    );
  };

  // Loudspeaker
  let speaker: Playback | null = null;
  let openingSpeaker: Promise<Playback | null> | null = null;
  /** Of the present answer: what its phrases last, for captions that go with the voice. */
  let generation = -1;
  let lengths = new Map<number, { totalMs: number; complete: boolean }>();
  /** Up to this answer it is known that nobody hears it. */
  let unheardUpTo = -1;
  let output: string | null = null;

  const onPlaybackEvent = (event: PlaybackEvent) => {
    switch (event.type) {
      case 'played': {
        const { phrase, range, ms } = event;
        send({ t: 'played', generation: event.generation, heard: { phrase, from: range.from, to: range.to, ms }, done: event.done });
        const length = event.generation === generation ? lengths.get(phrase) : undefined;
        if (length !== undefined) deps.onPlayed({ generation, phrase, ms, ...length });
        return;
      }
      case 'drained':
        return send({ t: 'drained', generation: event.generation });
      case 'underrun':
        return generation < 0 ? undefined : send({ t: 'underrun', generation });
      case 'stopped':
      case 'paused':
      case 'refused':
        return;
    }
  };
  const lostOutput = (error: AppError) => {
    unheardUpTo = generation;
    deps.onOutput(error);
    send({ t: 'outputLost' });
  };
  const openSpeaker = () => {
    openingSpeaker ??= openPlayback({
      media: deps.sound.media,
      clock,
      openNode: (onMessage) => deps.sound.openPlaybackNode(onMessage),
      onEvent: onPlaybackEvent,
      onLost: lostOutput,
      onError: deps.onError,
    }).then(
      (opened) => {
        speaker = opened;
        output = null;
        setOutput(deps.choices().loudspeaker);
        return opened;
      },
      (thrown: unknown) => {
        openingSpeaker = null;
        deps.onOutput(toAppError(thrown));
        return null;
      },
    );
    return openingSpeaker;
  };
  const setOutput = (name: string | null) => {
    if (speaker === null || name === output) return;
    output = name;
    speaker.setOutput(name).then(
      () => deps.onOutput(null),
      (thrown: unknown) => deps.onOutput(toAppError(thrown)),
    );
  };
  /** In order, also while it is still being opened. @param without  what is done where there is none. */
  const withSpeaker = (deed: (to: Playback) => void, without: () => void = () => {}) => {
    if (speaker !== null) return deed(speaker);
    if (openingSpeaker === null) return without();
    openingSpeaker.then((opened) => (opened === null ? without() : deed(opened)), deps.onError);
  };
  const closeSpeaker = () => {
    const closing = openingSpeaker;
    openingSpeaker = null;
    speaker = null;
    closing?.then((opened) => opened?.close()).catch(deps.onError);
  };
  const onChunk = (chunk: SoundChunk) => {
    if (chunk.generation > generation) {
      generation = chunk.generation;
      lengths = new Map();
    }
    if (chunk.generation === generation) {
      const totalMs = (lengths.get(chunk.phrase)?.totalMs ?? 0) + msOf(chunk.pcm.length, chunk.rateHz);
      lengths.set(chunk.phrase, { totalMs, complete: chunk.last });
    }
    void openSpeaker();
    withSpeaker(
      (to) => to.play(chunk),
      () => {
        if (unheardUpTo < chunk.generation) lostOutput(new AppError('DEVICE_LOST', { kind: 'output' }));
      },
    );
  };
  const stop = (upTo: number) => {
    withSpeaker(
      (to) => {
        to.stop(upTo).then(({ heard }) => {
          const own = heard !== null && heard.generation === upTo;
          send({
            t: 'stopped',
            generation: upTo,
            heard: own ? { phrase: heard.phrase, from: heard.range.from, to: heard.range.to, ms: heard.ms } : null,
          });
        }, deps.onError);
      },
      () => send({ t: 'stopped', generation: upTo, heard: null }),
    );
  };
  const playTone = (kind: Extract<LineDown, { t: 'cue' }>['kind']) => {
    if (kind === 'listening') cue = false;
    if (deps.choices().tones) withSpeaker((to) => to.tone(kind));
  };

  const obey = (message: LineDown): void => {
    switch (message.t) {
      case 'line':
        return;
      case 'openMic':
        return told === 'open' && wanted === message.device ? tellOpen('opened') : openMic(message.device, 'opened');
      case 'closeMic':
        return capture.close();
      case 'begin': {
        const from = pressedAtMs ?? clock.monotonicMs();
        pressedAtMs = null;
        // A microphone that is gone gives nothing, and its end must still be said.
        if (!capture.begin(from, message.preRollMs)) tellEnded();
        return;
      }
      case 'end':
        return capture.end(message.tailMs);
      case 'cue':
        // "You can talk" is said only once sound truly arrives (VO-07).
        if (message.kind !== 'listening' || capture.get().phase === 'live') return playTone(message.kind);
        cue = true;
        return;
      case 'finish':
        return withSpeaker(
          (to) => to.finish(message.generation),
          () => send({ t: 'drained', generation: message.generation }),
        );
      case 'stop':
        return stop(message.generation);
      case 'pause':
        return withSpeaker((to) => to.pause());
      case 'resume':
        return withSpeaker((to) => to.resume());
    }
  };

  const forget = () => {
    link = null;
    opening = null;
    seq = 0;
    waiting = [];
    capture.close();
    closeSpeaker();
  };
  const open = async (): Promise<string> => {
    const opened = await deps.openVoice(ended.signal);
    const named = deferred<string>();
    link = opened;
    opened.onMessage((data) => {
      if (link !== opened) return;
      try {
        if (typeof data !== 'string') return onChunk(decodeChunk(data));
        const message = parseLineDown(data);
        if (message.t === 'line') named.resolve(message.id);
        else obey(message);
      } catch (error) {
        // What is no message ends the line, on this side as on the other.
        deps.onError(error);
        opened.close();
      }
    });
    void opened.closed.then(() => {
      named.reject(new AppError('VOICE_LINE_UNKNOWN'));
      if (link !== opened) return;
      forget();
      deps.onLineLost();
    });
    const stopWaiting = clock.setTimer(lineNameMs, () => {
      named.reject(new AppError('VOICE_LINE_UNKNOWN'));
      opened.close();
    });
    try {
      return await named.promise;
    } finally {
      stopWaiting();
    }
  };
  const dropLine = () => {
    const old = link;
    forget();
    old?.close();
  };
  return {
    async ready() {
      // The loudspeaker may fail: then the answers are captions, and talking goes on.
      const loudspeaker = openSpeaker();
      opening ??= open();
      const mine = opening;
      try {
        const [id] = await Promise.all([mine, loudspeaker]);
        return id;
      } catch (error) {
        if (opening === mine) opening = null;
        throw error;
      }
    },
    dropLine,
    key(down, sessionId, atMs) {
      if (down) pressedAtMs = atMs;
      send({ t: 'key', key: 'talk', down, sessionId });
    },
    mute() {
      muting = true;
      capture.setMuted(true);
      return () => {
        muting = false;
      };
    },
    choose() {
      const { microphone, loudspeaker } = deps.choices();
      if (told !== 'closed' && microphone !== wanted) {
        // What was being said ends with the microphone that heard it.
        capture.close();
        openMic(microphone, 'changed');
      }
      setOutput(loudspeaker);
    },
    rest: closeSpeaker,
    close() {
      ended.abort();
      dropLine();
    },
  };
}
