import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import type { AppError } from '../../../shared/errors/appError.ts';
import type { Api } from '../../lib/connection.ts';
import { useEndedDownloads, useRead } from '../../lib/useRead.ts';

export type VoiceList = {
  /** `null` while it is read. */
  readonly voices: readonly SpeakingVoice[] | null;
  readonly standard: readonly string[];
  readonly error: AppError | null;
  reload(): void;
};

const readVoices = (api: Api) => api.speech.voices({ first: navigator.language });

/** The voice catalogue, the person's language first; read again with each connection and whenever a download has ended. */
export function useVoices(): VoiceList {
  const { value, error, reload } = useRead(readVoices, useEndedDownloads());
  return { voices: value?.voices ?? null, standard: value?.standard ?? [], error, reload };
}
