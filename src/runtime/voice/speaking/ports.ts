import type { SoundChunk } from '../../../shared/domain/audio.ts';
import type { SpokenCaption } from '../../../shared/domain/voiceView.ts';
import type { AppError } from '../../../shared/errors/appError.ts';
import type { TextToSpeech } from '../../inference/textToSpeech.ts';
import type { Clock, Logger } from '../../platform/ports.ts';

/** Where the loudspeaker is: `ms` of this phrase have sounded, and it is on the text of this chunk (UTF-16 units of the written answer). */
export type HeardMark = { readonly phrase: number; readonly from: number; readonly to: number; readonly ms: number };

export type SpeakerOptions = {
  /** Null: the model's first voice. */
  readonly voiceId: string | null;
  /** Language tag of the answer. */
  readonly language: string;
  /** 0.5…2. */
  readonly speed: number;
};

export type SpeakerDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly textToSpeech: TextToSpeech;
  /** Sound to be played, in order. A phrase is one or more chunks; an empty one with `last` may end it. */
  readonly onChunk: (chunk: SoundChunk) => void;
  /** No more of this answer comes, with sound or without any. Once per answer that was not stopped. */
  readonly onFinish: (generation: number) => void;
  /** With the first chunk of a phrase; without sound as soon as the phrase is known. */
  readonly onCaption: (caption: SpokenCaption) => void;
  /** Each once per answer. */
  readonly onMark: (mark: 'firstPhrase' | 'firstAudioMade') => void;
  /**
   * It cannot be spoken: TTS_UNAVAILABLE, VOICE_UNKNOWN, ENGINE_* (VO-64). Once per answer; what is left of it is captions, and
   * `onFinish` follows as ever.
   */
  readonly onFailed: (error: AppError) => void;
};

/** One answer at a time, from its written text to sound. No callback ever tells of an answer that was stopped or followed by another. */
export type Speaker = {
  /** A new answer; one before it is stopped. */
  begin(generation: number, options: SpeakerOptions): void;
  /** More of the written answer. */
  push(text: string): void;
  /**
   * What was written so far is void, the answer is written anew (VO-61): nothing of it comes any more but what the loudspeaker has, and
   * `heardUnits` counts in the new text.
   */
  restart(): void;
  /** No more text comes. */
  end(): void;
  /** Keeps what is made until `release`; it holds from one answer to the next. */
  hold(): void;
  release(): void;
  /** Nothing of this answer comes any more. `heardUnits` stays. */
  stop(): void;
  /** There is no loudspeaker any more: what has not sounded is captions, and counts as heard (VO-65). */
  quiet(): void;
  /** From the loudspeaker. @param done  the whole chunk has sounded. */
  played(heard: HeardMark, done: boolean): void;
  /**
   * How much of the written answer was heard: UTF-16 units from its beginning, all of it when the last sound is over. What could only be
   * read, because there was no sound, counts.
   */
  heardUnits(): number;
};
