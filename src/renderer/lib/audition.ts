import { createStore, type StoreApi } from 'zustand/vanilla';
import { type AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import { openPlayback, type Playback } from '../audio/playback.ts';
import type { Sound } from '../audio/sound.ts';
import type { Api } from './connection.ts';

/** What is to be heard. */
export type Sample = {
  /** null: the one that speaks by itself. */
  readonly voiceId: string | null;
  readonly text: string;
  readonly speed: number;
  /** The text is an answer as it was written, to be read whole. */
  readonly written?: boolean;
};

export type AuditionState = {
  /** `making`: the voice works on it, nothing sounds yet. */
  readonly phase: 'still' | 'making' | 'sounding';
  readonly voiceId: string | null;
  /** Why the last one was not heard. */
  readonly error: AppError | null;
};

export type Audition = {
  readonly state: StoreApi<AuditionState>;
  /** Silences what sounds and says this. @param loudspeaker  its name, null for the system's own. */
  play(sample: Sample, loudspeaker: string | null): Promise<void>;
  stop(): void;
  /** Gives the loudspeaker back; what is to be heard later opens it anew. */
  close(): void;
};

const still = { phase: 'still', voiceId: null, error: null } as const;

/**
 * Lets voices be heard, one at a time, without arming (VO-96).
 *
 * @param deps.openSound  the devices; asked for when something is to be heard first.
 */
export function createAudition(deps: {
  api: Pick<Api, 'speech'>;
  clock: Clock;
  openSound: () => Promise<Sound>;
  onError: (error: unknown) => void;
}): Audition {
  const { api, clock } = deps;
  const state = createStore<AuditionState>(() => still);
  let loudspeaker: Promise<Playback> | null = null;
  /** Of the sample that counts; the sound of older ones is dropped. */
  let generation = 0;
  let saying = new AbortController();

  const open = async (): Promise<Playback> => {
    const sound = await deps.openSound();
    return openPlayback({
      media: sound.media,
      clock,
      openNode: (onMessage) => sound.openPlaybackNode(onMessage),
      onEvent(event) {
        if (event.type === 'drained' && event.generation === generation) state.setState({ ...still, error: state.getState().error });
      },
      onLost: (error) => state.setState({ ...still, error }),
      onError: deps.onError,
    });
  };
  const playback = (): Promise<Playback> => {
    if (loudspeaker === null) {
      const opening = open();
      loudspeaker = opening;
      // One that could not be opened is tried anew the next time.
      opening.catch(() => {
        if (loudspeaker === opening) loudspeaker = null;
      });
    }
    return loudspeaker;
  };
  /** @returns the number of what begins now. */
  const silence = (): number => {
    saying.abort();
    saying = new AbortController();
    const old = generation;
    generation += 1;
    // A loudspeaker that is only being opened has nothing to silence.
    loudspeaker?.then((present) => present.stop(old)).catch(() => {});
    return generation;
  };

  return {
    state,
    async play({ voiceId, text, speed, written = false }, output) {
      const mine = silence();
      const { signal } = saying;
      state.setState({ phase: 'making', voiceId, error: null });
      try {
        const speaker = await playback();
        if (mine !== generation) return;
        await speaker.setOutput(output);
        const phrases = await api.speech.say(
          { text, speed, ...(voiceId === null ? {} : { voiceId }), ...(written ? { written } : {}) },
          { signal },
        );
        for await (const { pcm, sampleRate, phrase, textRange } of phrases) {
          if (mine !== generation) return;
          const [from, to] = textRange;
          speaker.play({ generation: mine, phrase, last: true, range: { from, to }, rateHz: sampleRate, pcm: samplesOf(pcm) });
          state.setState({ phase: 'sounding', voiceId, error: null });
        }
        if (mine === generation) speaker.finish(mine);
      } catch (error) {
        // What was stopped has nothing more to tell.
        if (mine !== generation) return;
        state.setState({ ...still, voiceId, error: toAppError(error) });
      }
    },
    stop() {
      silence();
      state.setState(still);
    },
    close() {
      silence();
      loudspeaker?.then((present) => present.close()).catch(deps.onError);
      loudspeaker = null;
      state.setState(still);
    },
  };
}

/** 16-bit little-endian samples in base64 as float32. */
function samplesOf(pcm: string): Float32Array<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(pcm), (sign) => sign.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return new Float32Array(bytes.length >> 1).map((_, i) => view.getInt16(2 * i, true) / 32_768);
}
