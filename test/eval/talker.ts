import type { Engines } from '../../src/runtime/engines/createEngines.ts';
import type { VadStream } from '../../src/runtime/inference/vad.ts';
import { createVoice } from '../../src/runtime/voice/createVoice.ts';
import type { VoiceStepSeen } from '../../src/runtime/voice/ports.ts';
import { type LineUp, type LineWire, parseLineDown } from '../../src/shared/contract/voiceLine.ts';
import { type AudioFrame, audio, msOf } from '../../src/shared/domain/audio.ts';
import { newId } from '../../src/shared/domain/ids.ts';
import { encodeFrame } from '../../src/shared/util/audioWire.ts';
import { type Deferred, deferred } from '../../src/shared/util/deferred.ts';
import { pieces } from '../helpers/audio.ts';
import { createFakeClock } from '../helpers/fakeClock.ts';

const frameMs = msOf(audio.frameSamples, audio.rateHz);
/** Sound goes in faster than it would come from a microphone, but never so far ahead that the activity model could be late. */
const AHEAD = 16;
const TAIL_FRAMES = Math.ceil(audio.tailMs / frameMs);

export type Talker = {
  /**
   * Holds the talk key while this sounds. The key goes up 250 ms before its end, so that the end is the tail.
   *
   * @param sound  16 kHz mono.
   * @returns what was committed; null: nothing was heard, no turn began.
   */
  press(sound: Float32Array): Promise<string | null>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * The voice of the runtime as it is, with real engines and a page that plays recordings: reducer, driver, activity model, recogniser, and
 * the check whether anything was said. Nobody answers. Its clock goes by the sound, so that a minute of it takes as long as the models do.
 */
export async function createTalker(engines: Pick<Engines, 'vad' | 'speechToText' | 'textToSpeech'>): Promise<Talker> {
  const clock = createFakeClock();
  let [sent, judged] = [0, 0];
  let judgedMore: Deferred<void> | null = null;
  const watched = (stream: VadStream): VadStream => ({
    ...stream,
    async probabilities(samples, options) {
      const found = await stream.probabilities(samples, options);
      judged += found.length;
      judgedMore?.resolve();
      return found;
    },
  });
  let said: string | null = null;
  let stepped: Deferred<void> | null = null;
  let last: VoiceStepSeen | null = null;
  const voice = createVoice({
    clock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    vad: { ready: (options) => engines.vad.ready(options), open: async (options) => watched(await engines.vad.open(options)) },
    speechToText: engines.speechToText,
    textToSpeech: engines.textToSpeech,
    conversation: {
      send({ text }) {
        said = text;
        return { sessionId: newId('session', clock.nowMs()), turnId: newId('turn', clock.nowMs()) };
      },
      cancel: () => {},
      async *follow() {
        yield { kind: 'ended', how: 'completed' };
      },
      heard: () => {},
    },
    gate: { grant: async () => {}, release: () => {}, setMuted: () => {} },
    choices: { get: () => ({ muted: false, microphone: null, voiceId: null, speed: 1 }), setMuted: () => {} },
    prewarm: () => {},
    languageModel: () => null,
    onStep(step) {
      last = step;
      stepped?.resolve();
    },
  });

  let toRuntime: (data: unknown) => void = () => {};
  const up = (message: LineUp) => toRuntime(JSON.stringify(message));
  let line = '';
  const wire: LineWire = {
    send(data) {
      if (typeof data !== 'string') return;
      const down = parseLineDown(data);
      if (down.t === 'line') line = down.id;
      // As a page does, which opens its device in its own time.
      if (down.t === 'openMic')
        setImmediate(() => ['opened', 'live'].forEach((state) => up({ t: 'mic', state: state as 'live', device: 'recording' })));
    },
    onMessage: (listener) => {
      toRuntime = listener;
    },
    onClose: () => {},
    close: (reason) => {
      if (reason !== 'over') throw new Error(`the line was closed: ${reason}`);
    },
  };
  voice.connect(wire);
  await voice.arm({ line, mode: 'push-to-talk' });

  let seq = 0;
  async function send(samples: Float32Array): Promise<void> {
    const frame: AudioFrame = {
      seq: (seq += 1),
      captureMs: seq * frameMs,
      clipped: false,
      zero: false,
      gap: false,
      samples: new Float32Array(audio.frameSamples),
    };
    frame.samples.set(samples);
    toRuntime(encodeFrame(frame));
    sent += 1;
    clock.advance(frameMs);
    while (sent - judged > AHEAD) {
      judgedMore = deferred<void>();
      await judgedMore.promise;
    }
  }
  async function until(accept: (phase: string) => boolean): Promise<void> {
    while (last === null || !accept(last.state.phase)) {
      stepped = deferred<void>();
      await stepped.promise;
    }
  }

  return {
    async press(sound) {
      said = null;
      const frames = pieces(sound, audio.frameSamples);
      up({ t: 'key', key: 'talk', down: true, sessionId: null });
      const upAt = Math.max(frames.length - TAIL_FRAMES, 0);
      for (const frame of frames.slice(0, upAt)) await send(frame);
      // A press is a hold from 300 ms on.
      for (let ms = upAt * frameMs; ms < 320; ms += frameMs) clock.advance(frameMs);
      up({ t: 'key', key: 'talk', down: false, sessionId: null });
      for (const frame of frames.slice(upAt)) await send(frame);
      up({ t: 'ended' });
      await until((phase) => phase === 'standby');
      return said;
    },
    async [Symbol.asyncDispose]() {
      await voice[Symbol.asyncDispose]();
    },
  };
}
