import type { Voice } from '../../src/runtime/voice/ports.ts';
import { type LineDown, type LineUp, type LineWire, parseLineDown } from '../../src/shared/contract/voiceLine.ts';
import { audio, msOf, type SoundChunk } from '../../src/shared/domain/audio.ts';
import type { SessionId } from '../../src/shared/domain/ids.ts';
import { decodeChunk, encodeFrame } from '../../src/shared/util/audioWire.ts';
import type { Clock } from '../../src/shared/util/clock.ts';

type Data = string | Uint8Array<ArrayBuffer>;
type Heard = { phrase: number; from: number; to: number; ms: number };

/** Two ends of a voice line in memory: what is sent is copied and arrives later, in order. */
function linkedEnds(): { near: LineWire; far: LineWire; closedFor: () => string | null } {
  let reason: string | null = null;
  const make = () => ({ messages: [] as ((data: unknown) => void)[], closes: [] as (() => void)[] });
  const ends = [make(), make()] as const;
  const end = (own: 0 | 1, other: 0 | 1): LineWire => ({
    send(data) {
      if (reason !== null) return;
      const copy = structuredClone(data);
      queueMicrotask(() => {
        if (reason === null) for (const listener of ends[other].messages) listener(copy);
      });
    },
    onMessage: (listener) => void ends[own].messages.push(listener),
    onClose: (listener) => void ends[own].closes.push(listener),
    close(why) {
      if (reason !== null) return;
      reason = why;
      queueMicrotask(() => {
        for (const { closes } of ends) for (const listener of closes) listener();
      });
    },
  });
  return { near: end(0, 1), far: end(1, 0), closedFor: () => reason };
}

export type LinePageOptions = {
  /** How the microphone opens: with sound at once (default), open but not a sound yet, not at all, or by the test's own `mic`. */
  readonly opens?: 'live' | 'opened' | 'by hand' | { readonly fails: string };
  readonly device?: string;
  /** When a chunk counts as played: at once (default), after its own length on this clock, or by `playNext`. */
  readonly plays?: 'at once' | 'by hand' | { readonly clock: Pick<Clock, 'setTimer'> };
};

/**
 * A page as the runtime sees it: the microphone is what the test says into it, the loudspeaker a list. It keeps the protocol: frames go
 * only between `begin` and `end`, the last second before a `begin` comes first, `ended` follows the tail.
 */
export function createLinePage(voice: Pick<Voice, 'connect'>, options: LinePageOptions = {}) {
  const { opens = 'live', device = 'Test microphone', plays = 'at once' } = options;
  const { near, far, closedFor } = linkedEnds();
  const down: LineDown[] = [];
  const chunks: SoundChunk[] = [];
  let id: string | null = null;
  let seq = 0;
  let isOpen = false;
  let sending: { leftSamples: number | null } | null = null;
  /** What the microphone heard while nobody asked. */
  let before = new Float32Array(0);
  let rest = new Float32Array(0);
  /** The loudspeaker. */
  let queue: SoundChunk[] = [];
  let stopPlaying = () => {};
  let isPaused = false;
  let finished = -1;
  let drained = -1;
  let stoppedUpTo = -1;
  let heard: { generation: number; heard: Heard } | null = null;

  const up = (message: LineUp) => near.send(JSON.stringify(message));
  const mic = (state: Extract<LineUp, { t: 'mic' }>['state'], code?: string) =>
    up({ t: 'mic', state, device, ...(code === undefined ? {} : { code }) });
  const sendFrame = (samples: Float32Array<ArrayBuffer>) => {
    const flags = { clipped: false, gap: false, zero: samples.every((sample) => sample === 0) };
    near.send(encodeFrame({ seq, captureMs: msOf(seq * audio.frameSamples, audio.rateHz), ...flags, samples }));
    seq += 1;
  };
  const finishCapture = () => {
    if (sending === null) return;
    if (rest.length > 0) {
      const last = new Float32Array(audio.frameSamples);
      last.set(rest);
      rest = new Float32Array(0);
      sendFrame(last);
    }
    sending = null;
    up({ t: 'ended' });
  };
  const give = (pcm: Float32Array) => {
    if (sending === null) {
      before = joined(before, pcm).slice(-audio.rateHz);
      return;
    }
    const wanted = sending.leftSamples === null ? pcm : pcm.subarray(0, sending.leftSamples);
    const all = joined(rest, wanted);
    let at = 0;
    for (; at + audio.frameSamples <= all.length; at += audio.frameSamples) sendFrame(all.slice(at, at + audio.frameSamples));
    rest = all.slice(at);
    if (sending.leftSamples === null) return;
    sending.leftSamples -= wanted.length;
    if (sending.leftSamples > 0) return;
    finishCapture();
    before = joined(before, pcm.subarray(wanted.length)).slice(-audio.rateHz);
  };

  const playedChunk = (chunk: SoundChunk) => {
    const ms =
      (heard?.generation === chunk.generation && heard.heard.phrase === chunk.phrase ? heard.heard.ms : 0) +
      msOf(chunk.pcm.length, chunk.rateHz);
    heard = { generation: chunk.generation, heard: { phrase: chunk.phrase, from: chunk.range.from, to: chunk.range.to, ms } };
    up({ t: 'played', ...heard, done: true });
  };
  const perhapsDrained = () => {
    if (queue.length > 0 || finished <= drained || isPaused) return;
    drained = finished;
    up({ t: 'drained', generation: finished });
  };
  const playOne = (): boolean => {
    const chunk = queue.shift();
    if (chunk === undefined) return false;
    playedChunk(chunk);
    perhapsDrained();
    return true;
  };
  const play = () => {
    if (isPaused) return;
    if (plays === 'at once') while (playOne());
    else if (plays !== 'by hand') {
      stopPlaying();
      const head = queue[0];
      if (head === undefined) return perhapsDrained();
      stopPlaying = plays.clock.setTimer(msOf(head.pcm.length, head.rateHz), () => {
        playOne();
        play();
      });
    }
    perhapsDrained();
  };

  const take = (message: LineDown) => {
    switch (message.t) {
      case 'line':
        id = message.id;
        return;
      case 'openMic':
        if (typeof opens === 'object') return mic('failed', opens.fails);
        if (opens === 'by hand') return;
        isOpen = true;
        mic('opened');
        if (opens === 'live') mic('live');
        return;
      case 'closeMic':
        isOpen = false;
        sending = null;
        rest = new Float32Array(0);
        before = new Float32Array(0);
        return mic('closed');
      case 'begin': {
        finishCapture();
        sending = { leftSamples: null };
        const preRoll = before.slice(-Math.round((message.preRollMs * audio.rateHz) / 1_000));
        before = new Float32Array(0);
        if (message.preRollMs > 0) give(preRoll);
        return;
      }
      case 'end':
        if (sending === null) return;
        sending.leftSamples = Math.round((message.tailMs * audio.rateHz) / 1_000);
        // What comes after is silence, unless the test says something into the tail.
        give(new Float32Array(sending.leftSamples));
        return finishCapture();
      case 'finish':
        finished = Math.max(finished, message.generation);
        return perhapsDrained();
      case 'stop':
        stoppedUpTo = Math.max(stoppedUpTo, message.generation);
        drained = Math.max(drained, message.generation);
        queue = queue.filter((chunk) => chunk.generation > stoppedUpTo);
        stopPlaying();
        isPaused = false;
        return up({ t: 'stopped', generation: message.generation, heard: heard?.generation === message.generation ? heard.heard : null });
      case 'pause':
        isPaused = true;
        return stopPlaying();
      case 'resume':
        isPaused = false;
        return play();
      case 'cue':
        return;
    }
  };
  near.onMessage((data) => {
    if (typeof data === 'string') {
      const message = parseLineDown(data);
      down.push(message);
      return take(message);
    }
    if (!(data instanceof Uint8Array)) throw new Error('neither text nor bytes');
    const chunk = decodeChunk(data);
    chunks.push(chunk);
    if (chunk.generation <= stoppedUpTo) return;
    queue.push(chunk);
    if (queue.length === 1 || plays === 'at once') play();
  });
  voice.connect(far);

  return {
    /** Its id, once the runtime has said it. */
    id(): string {
      if (id === null) throw new Error('the line has no id yet');
      return id;
    },
    /** All messages from the runtime, in order. */
    down,
    /** All sound from the runtime, also what was stopped. */
    chunks,
    of: <T extends LineDown['t']>(t: T) => down.filter((message): message is Extract<LineDown, { t: T }> => message.t === t),
    closedFor,
    isMicOpen: () => isOpen,
    isSending: () => sending !== null,
    press: (sessionId: SessionId | null = null) => up({ t: 'key', key: 'talk', down: true, sessionId }),
    release: (sessionId: SessionId | null = null) => up({ t: 'key', key: 'talk', down: false, sessionId }),
    /** Sound at the microphone, 16 kHz: goes out if it is asked for, else the last second of it waits. */
    say: give,
    /** A frame that nobody asked for. */
    sendAnyway: (samples: Float32Array<ArrayBuffer>) => sendFrame(samples),
    mic(state: Extract<LineUp, { t: 'mic' }>['state'], code?: string) {
      if (state === 'opened') isOpen = true;
      if (state === 'lost' || state === 'changed') finishCapture();
      mic(state, code);
    },
    up,
    raw: (data: Data) => near.send(data),
    /** Plays the next chunk to its end. @returns false when none waits. */
    playNext: playOne,
    /** A part of the chunk that would be next has sounded. */
    playPart(share: number) {
      const chunk = queue[0];
      if (chunk === undefined) throw new Error('no sound waits');
      heard = {
        generation: chunk.generation,
        heard: { phrase: chunk.phrase, ...chunk.range, ms: msOf(chunk.pcm.length, chunk.rateHz) * share },
      };
      up({ t: 'played', ...heard, done: false });
    },
    close: () => near.close('over'),
  };
}

function joined(a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
