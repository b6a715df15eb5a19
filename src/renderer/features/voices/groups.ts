import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';

export type VoiceGroup = {
  readonly language: string;
  readonly genders: readonly { gender: SpeakingVoice['gender']; voices: SpeakingVoice[] }[];
};

/** By language, then by gender, both in the order in which they come. */
export function groupVoices(voices: readonly SpeakingVoice[]): VoiceGroup[] {
  const languages = new Map<string, Map<SpeakingVoice['gender'], SpeakingVoice[]>>();
  for (const voice of voices) {
    const genders = languages.get(voice.language) ?? new Map<SpeakingVoice['gender'], SpeakingVoice[]>();
    languages.set(voice.language, genders);
    const own = genders.get(voice.gender);
    if (own === undefined) genders.set(voice.gender, [voice]);
    else own.push(voice);
  }
  return [...languages].map(([language, genders]) => ({
    language,
    genders: [...genders].map(([gender, own]) => ({ gender, voices: own })),
  }));
}

export type VoiceModel = Pick<SpeakingVoice, 'modelId' | 'modelName' | 'licence' | 'notice' | 'sizeBytes' | 'state' | 'speedFactor'>;

/** The models behind the voices, each once. */
export function modelsOf(voices: readonly SpeakingVoice[]): VoiceModel[] {
  return [...new Map(voices.map((voice) => [voice.modelId, voice])).values()];
}
