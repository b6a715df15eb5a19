import type { SpeakingVoice } from '../../src/shared/domain/voiceCatalogue.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { type Deferred, deferred } from '../../src/shared/util/deferred.ts';

/** A voice of Kokoro that is not here, unless the test says otherwise. */
export function speakingVoice(change: Partial<SpeakingVoice> = {}): SpeakingVoice {
  return {
    voiceId: 'af_heart',
    name: 'Heart',
    language: 'en',
    locale: 'en-US',
    gender: 'female',
    modelId: 'kokoro-82m-en' as SpeakingVoice['modelId'],
    modelName: 'Kokoro',
    sampleRate: 24_000,
    licence: { id: 'Apache-2.0', url: 'https://example.org/licence' },
    sizeBytes: 106_985_146,
    state: 'available',
    check: 'notChecked',
    talk: 'slower',
    note: 'A',
    ...change,
  };
}

export const joe = speakingVoice({
  voiceId: 'joe',
  name: 'Joe',
  gender: 'male',
  modelId: 'piper-en-us-joe' as SpeakingVoice['modelId'],
  modelName: 'Piper Joe',
  sampleRate: 22_050,
  licence: { id: 'MIT', url: 'https://example.org/mit' },
  sizeBytes: 63_206_088,
  state: 'installed',
  speedFactor: 0.2,
  talk: 'standard',
});

export type Said = {
  readonly text: string;
  readonly voiceId: string | undefined;
  readonly speed: number;
  readonly signal: AbortSignal | undefined;
};

/** The voice catalogue and a mouth that says what a test lets it say. */
export function createFakeVoices() {
  let voices: readonly SpeakingVoice[] = [];
  let standard: readonly string[] = [];
  let gate: Deferred<void> | null = null;
  const said: Said[] = [];
  return {
    said,
    set(
      next: readonly SpeakingVoice[],
      own: readonly string[] = next
        .filter(({ state }) => state === 'installed')
        .map(({ voiceId }) => voiceId)
        .slice(0, 1),
    ) {
      voices = next;
      standard = own;
    },
    list: () => ({ voices: [...voices], standard: [...standard] }),
    measure(modelId: string, speedFactor: number) {
      voices = voices.map((voice) => (voice.modelId === modelId ? { ...voice, speedFactor } : voice));
    },
    /** From now on each phrase waits until it is let go. */
    hold() {
      gate = deferred<void>();
      return gate;
    },
    /** A tenth of a second of a tone; a test lets it through, if it holds it. */
    async *say(input: { text: string; voiceId?: string | undefined; speed: number }, signal: AbortSignal | undefined) {
      if (!voices.some(({ voiceId, state }) => voiceId === input.voiceId && state === 'installed')) throw new AppError('VOICE_UNKNOWN');
      said.push({ text: input.text, voiceId: input.voiceId, speed: input.speed, signal });
      await gate?.promise;
      const pcm = new Int16Array(2_400).map((_, i) => Math.round(8_000 * Math.sin(i / 8)));
      yield {
        pcm: Buffer.from(pcm.buffer).toString('base64'),
        sampleRate: 24_000,
        phrase: 0,
        textRange: [0, input.text.length] as [number, number],
      };
    },
  };
}
