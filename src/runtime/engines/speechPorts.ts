import type { ModelId } from '../../shared/domain/ids.ts';
import type { ModelLayout, ModelSlot, ModelVoice, RuntimeClass } from '../../shared/domain/models.ts';

export type SpeechSlot = Exclude<ModelSlot, 'language'>;

/** A speech model that may be loaded, as registry and catalogue know it. */
export type InstalledSpeech = {
  readonly modelId: ModelId;
  readonly sha256: string;
  readonly bytes: number;
  readonly runtimeClass: RuntimeClass;
  readonly layout: ModelLayout;
  readonly languages: readonly string[];
  readonly voices: readonly ModelVoice[];
  readonly activity: { readonly onset: number; readonly offset: number } | null;
};

/** Which models shall serve; filled by compose. */
export type SpeechSlots = {
  chosen(slot: SpeechSlot): InstalledSpeech | null;
  /** All models of a slot that may serve; the chosen one is the first. */
  usable(slot: SpeechSlot): readonly InstalledSpeech[];
  /** Absolute path of its file. @throws AppError MODEL_NOT_INSTALLED, MODEL_FILE_CORRUPT. */
  path(model: InstalledSpeech): Promise<string>;
  /** The activity model that comes with Sotto; `null` if this build has none. */
  spareActivity(): InstalledSpeech | null;
};
