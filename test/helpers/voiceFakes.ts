import type { LiveTranscription, PartialTranscript, SpeechToText, Transcript } from '../../src/runtime/inference/speechToText.ts';
import type { SpeakRequest, TextToSpeech } from '../../src/runtime/inference/textToSpeech.ts';
import type { Vad, VadModel } from '../../src/runtime/inference/vad.ts';
import type { Conversation, MicrophoneGate, ReplyItem, SpokenTurn, VoiceChoices } from '../../src/runtime/voice/ports.ts';
import type { CancelReason } from '../../src/runtime/voice/turn/state.ts';
import { newId, type SessionId } from '../../src/shared/domain/ids.ts';
import type { ModelVoice } from '../../src/shared/domain/models.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { createAsyncQueue } from '../../src/shared/util/asyncQueue.ts';
import { type Deferred, deferred } from '../../src/shared/util/deferred.ts';
import { rms, tone } from './audio.ts';

// Scripted ends of the voice driver: what hears, what speaks, who answers. They decide by the sound itself and by what the test put down.

const frame = 512;
/** As loud as this counts as speech: tones of `audio.ts` do, silence and faint noise don't. */
const speechRms = 0.02;

/** What may happen to a port: it fails from now on, or its next answers wait. */
function createTrouble() {
  let failing: AppError | null = null;
  let once: AppError | null = null;
  let gate: Deferred<void> | null = null;
  return {
    fail(error: AppError | null) {
      failing = error;
    },
    /** The next call fails, and no other. */
    failOnce(error: AppError) {
      once = error;
    },
    shut() {
      gate ??= deferred();
    },
    open() {
      gate?.resolve();
      gate = null;
    },
    async pass(signal?: AbortSignal) {
      if (gate !== null) {
        const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
        await Promise.race([gate.promise, aborted]);
      }
      if (signal?.aborted === true) throw new AppError('CANCELLED');
      const error: AppError | null = once ?? failing;
      once = null;
      if (error !== null) throw error;
    },
  };
}

/** Speech is what is loud. */
export function fakeVad(options: { model?: Partial<VadModel> } = {}) {
  const trouble = createTrouble();
  const model: VadModel = { modelId: 'fake-vad', onset: 0.5, offset: 0.35, spare: null, ...options.model };
  const seen = { streams: 0, open: 0, frames: 0, calls: 0, most: 0, atOnce: 0, resets: 0 };
  const vad: Vad = {
    async ready({ signal }) {
      await trouble.pass(signal);
      return model;
    },
    async open({ signal }) {
      await trouble.pass(signal);
      seen.streams += 1;
      seen.open += 1;
      let running = 0;
      return {
        model,
        async probabilities(samples, { signal: stop }) {
          running += 1;
          seen.calls += 1;
          seen.atOnce = Math.max(seen.atOnce, running);
          seen.most = Math.max(seen.most, samples.length / frame);
          try {
            await trouble.pass(stop);
            seen.frames += samples.length / frame;
            return Float32Array.from({ length: samples.length / frame }, (_, i) =>
              rms(samples.subarray(i * frame, (i + 1) * frame)) >= speechRms ? 0.95 : 0.02,
            );
          } finally {
            running -= 1;
          }
        },
        reset: () => void (seen.resets += 1),
        async close() {
          seen.open -= 1;
        },
      };
    },
  };
  return { ...trouble, vad, seen };
}

type Words = Partial<Omit<Transcript, 'words' | 'durationMs'>> & { text: string; partials?: readonly PartialTranscript[] };

/** Hears what the test says next, once per utterance; nothing in sound without speech. */
export function fakeSpeechToText() {
  const trouble = createTrouble();
  const words: Words[] = [];
  const heard: { samples: number; speech: boolean | null; closed: boolean }[] = [];
  const speechToText: SpeechToText = {
    async ready({ signal }) {
      await trouble.pass(signal);
      return { modelId: 'fake-asr', languages: ['en'] };
    },
    async transcribe(samples, { signal, speech }) {
      const live = speechToText.open({ signal, onPartial: () => {} });
      live.feed(samples);
      return live.finish({ speech });
    },
    open({ signal, onPartial }): LiveTranscription {
      const mine = { samples: 0, speech: null as boolean | null, closed: false };
      heard.push(mine);
      let said: Words | null = null;
      let broken: AppError | null = null;
      let over = false;
      const next = () => (said ??= words.shift() ?? { text: '' });
      return {
        feed(samples) {
          if (over) return;
          if (!samples.every(Number.isFinite)) broken = new AppError('INVALID_AUDIO', { reason: 'a sample is not a number' });
          mine.samples += samples.length;
          const partial = mine.samples > 8_000 ? next().partials?.[Math.floor(mine.samples / 8_000) - 1] : undefined;
          if (partial !== undefined && !mine.closed) onPartial(partial);
        },
        async finish({ speech }) {
          if (over) throw new AppError('CANCELLED');
          over = true;
          mine.speech = speech;
          await trouble.pass(signal);
          if (broken !== null) throw broken;
          if (mine.samples < 1_600) throw new AppError('AUDIO_TOO_SHORT');
          const silent: Words = { text: '', verdict: 'no-speech', noSpeechProb: 0.99 };
          const { partials: _, ...transcript } = speech ? next() : silent;
          return {
            language: 'en',
            verdict: 'ok',
            averageLogProb: -0.1,
            noSpeechProb: 0,
            words: null,
            durationMs: Math.round(mine.samples / 16),
            ...transcript,
          };
        },
        close() {
          over = true;
          mine.closed = true;
        },
      };
    },
  };
  return {
    ...trouble,
    speechToText,
    heard,
    /** The words of the next utterance in which somebody speaks. */
    hears: (text: string, rest: Omit<Words, 'text'> = {}) => void words.push({ text, ...rest }),
  };
}

const fakeVoice: ModelVoice = { voiceId: 'joe', name: 'Joe', language: 'en', locale: 'en-US', gender: 'male' };

/** A tone as long as the text at its speed: 10 ms a character, 16 kHz. Text without a letter is unspeakable; it speaks en and de. */
export function fakeTextToSpeech() {
  const trouble = createTrouble();
  const calls: { request: SpeakRequest; signal: AbortSignal }[] = [];
  const textToSpeech: TextToSpeech = {
    voices: () => [fakeVoice],
    async ready({ signal }) {
      await trouble.pass(signal);
      return { modelId: 'fake-tts', sampleRate: 16_000 };
    },
    async *speak(request, { signal }) {
      calls.push({ request, signal });
      await trouble.pass(signal);
      const { text, voiceId = fakeVoice.voiceId, language = 'en', speed = 1 } = request;
      if (voiceId !== fakeVoice.voiceId) throw new AppError('VOICE_UNKNOWN');
      if (!/^(?:en|de)\b/.test(language)) throw new AppError('TTS_UNAVAILABLE', { reason: 'language' });
      if (!/\p{L}/u.test(text)) throw new AppError('TEXT_UNSPEAKABLE');
      const samples = tone(200, (text.length * 10) / speed);
      // As a real one does: a join makes no click.
      samples[samples.length - 1] = 0;
      yield { samples, sampleRate: 16_000, phrase: 0, textRange: [0, text.length] };
    },
  };
  return { ...trouble, textToSpeech, calls, texts: () => calls.map(({ request }) => request.text) };
}

export type SentTurn = SpokenTurn & {
  readonly text: string;
  readonly key: string;
  readonly askedSession: SessionId | null;
  push(...items: ReplyItem[]): void;
  /** The whole answer at once. */
  answer(...deltas: string[]): void;
  fail(error: AppError): void;
};

/** An agent that answers what the test says. Like the real one it knows its keys: the same twice is one turn. */
export function fakeConversation() {
  const sent: SentTurn[] = [];
  const cancelled: { turn: SpokenTurn; reason: CancelReason }[] = [];
  const heard: { turn: SpokenTurn; units: number }[] = [];
  const queues = new Map<string, ReturnType<typeof createAsyncQueue<ReplyItem>>>();
  const script: string[][] = [];
  let refusing: AppError | null = null;
  const conversation: Conversation = {
    send({ sessionId, text, key }) {
      if (refusing !== null) throw refusing;
      const before = sent.find((turn) => turn.key === key);
      if (before !== undefined) return before;
      const turnId = newId('turn', sent.length + 1);
      const queue = createAsyncQueue<ReplyItem>(10_000);
      queues.set(turnId, queue);
      const turn: SentTurn = {
        sessionId: sessionId ?? newId('session', sent.length + 1),
        turnId,
        text,
        key,
        askedSession: sessionId,
        push: (...items) => items.forEach((item) => queue.push(item)),
        answer(...deltas) {
          turn.push({ kind: 'stage', stage: 'reading', fraction: 1 });
          for (const delta of deltas) turn.push({ kind: 'delta', text: delta });
          turn.push({ kind: 'ended', how: 'completed' });
        },
        fail: (error) => turn.push({ kind: 'ended', how: 'failed', error }),
      };
      sent.push(turn);
      const next = script.shift();
      if (next !== undefined) turn.answer(...next);
      return turn;
    },
    cancel(turn, reason) {
      cancelled.push({ turn, reason });
      queues.get(turn.turnId)?.push({ kind: 'ended', how: 'cancelled' });
    },
    async *follow(turn, signal) {
      const queue = queues.get(turn.turnId);
      if (queue === undefined) throw new AppError('TURN_NOT_FOUND');
      for await (const { item } of queue.read(signal)) yield item;
    },
    heard: (turn, units) => void heard.push({ turn, units }),
  };
  return {
    conversation,
    sent,
    cancelled,
    heard,
    /** What the next turn is answered with, at once. */
    answers: (...deltas: string[]) => void script.push(deltas),
    refuse(error: AppError | null) {
      refusing = error;
    },
    last(): SentTurn {
      const turn = sent.at(-1);
      if (turn === undefined) throw new Error('nothing was sent');
      return turn;
    },
  };
}

/** Main's side: grants, unless told otherwise. */
export function fakeGate() {
  const trouble = createTrouble();
  const seen = { grants: 0, releases: 0, muted: false };
  const gate: MicrophoneGate = {
    async grant() {
      await trouble.pass();
      if (seen.muted) throw new AppError('MIC_MUTED');
      seen.grants += 1;
    },
    release: () => void (seen.releases += 1),
    setMuted(muted) {
      seen.muted = muted;
    },
  };
  return { ...trouble, gate, seen };
}

export function fakeChoices(given: Partial<ReturnType<VoiceChoices['get']>> = {}) {
  let now: ReturnType<VoiceChoices['get']> = { muted: false, microphone: null, voiceId: null, speed: 1, ...given };
  const choices: VoiceChoices = {
    get: () => now,
    setMuted(muted) {
      now = { ...now, muted };
    },
  };
  return choices;
}
