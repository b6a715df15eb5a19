import type { SpeakRequest, TextToSpeech } from '../../../../src/runtime/inference/textToSpeech.ts';
import { createSpeaker } from '../../../../src/runtime/voice/speaking/speaker.ts';
import type { SoundChunk } from '../../../../src/shared/domain/audio.ts';
import type { SpokenCaption } from '../../../../src/shared/domain/voiceView.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../../helpers/fakeClock.ts';

type Ranges = readonly (readonly [number, number])[];

/** A voice that speaks when the test says so: a character takes 10 ms at 1,000 samples per second. */
export function createScriptedVoice(options: { piecesOf?: (text: string) => Ranges } = {}) {
  const calls: { request: SpeakRequest; signal: AbortSignal }[] = [];
  let gate: PromiseWithResolvers<void> | null = null;
  let failing: AppError | null = null;
  const textToSpeech: TextToSpeech = {
    voices: () => [],
    ready: () => Promise.resolve({ modelId: 'scripted', sampleRate: 1_000 }),
    async *speak(request, { signal }) {
      calls.push({ request, signal });
      const ranges = options.piecesOf?.(request.text) ?? [[0, request.text.length]];
      for (const [phrase, textRange] of ranges.entries()) {
        if (gate !== null) await gate.promise;
        if (signal.aborted) throw new AppError('CANCELLED');
        if (failing !== null) throw failing;
        const samples = new Float32Array((textRange[1] - textRange[0]) * 10).fill(0.5);
        yield { samples, sampleRate: 1_000, phrase, textRange: [textRange[0], textRange[1]] };
      }
      if (ranges.length === 0) throw new AppError('TEXT_UNSPEAKABLE');
    },
  };
  return {
    textToSpeech,
    calls,
    texts: () => calls.map(({ request }) => request.text),
    /** Nothing is spoken until `open`. */
    shut() {
      gate = Promise.withResolvers();
    },
    open() {
      gate?.resolve();
      gate = null;
    },
    fail(error: AppError | null) {
      failing = error;
    },
  };
}

const settle = async () => {
  for (let i = 0; i < 5; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
};

/** A speaker with all that it tells, in order. */
export function speakerHarness(options: Parameters<typeof createScriptedVoice>[0] & { plays?: boolean } = {}) {
  const voice = createScriptedVoice(options);
  const clock = createFakeClock();
  const chunks: SoundChunk[] = [];
  const captions: SpokenCaption[] = [];
  const marks: string[] = [];
  const failures: AppError[] = [];
  const finished: number[] = [];
  const played = new Map<number, number>();
  const speaker = createSpeaker({
    clock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    textToSpeech: voice.textToSpeech,
    onChunk: (chunk) => chunks.push(chunk),
    onFinish: (generation) => finished.push(generation),
    onCaption: (caption) => captions.push(caption),
    onMark: (mark) => marks.push(mark),
    onFailed: (error) => failures.push(error),
  });
  let next = 0;
  /** Plays one chunk, or a part of it. @returns false if there is none. */
  const play = (share = 1): boolean => {
    const chunk = chunks[next];
    if (chunk === undefined) return false;
    const before = played.get(chunk.phrase) ?? 0;
    const ms = before + (chunk.pcm.length / chunk.rateHz) * 1_000 * share;
    if (share === 1) {
      next += 1;
      played.set(chunk.phrase, ms);
    }
    speaker.played({ phrase: chunk.phrase, ...chunk.range, ms }, share === 1);
    return true;
  };
  return {
    voice,
    clock,
    speaker,
    chunks,
    captions,
    marks,
    failures,
    finished,
    settle,
    play,
    begin: (generation = 1, language = 'en') => speaker.begin(generation, { voiceId: null, language, speed: 1 }),
    /** Plays until nothing more comes. */
    async playAll() {
      await settle();
      while (play()) await settle();
    },
  };
}
