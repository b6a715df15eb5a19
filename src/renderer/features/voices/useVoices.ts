import { useEffect, useState } from 'react';
import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { useConnection, useLive, useServices } from '../../lib/services.tsx';

export type VoiceList = {
  /** `null` while it is read. */
  readonly voices: readonly SpeakingVoice[] | null;
  readonly standard: readonly string[];
  readonly error: AppError | null;
  reload(): void;
};

/** The voice catalogue, the person's language first; read again with each connection and whenever a download has ended. */
export function useVoices(): VoiceList {
  const { api } = useServices();
  const connection = useConnection();
  const jobs = useLive('downloads').value?.jobs ?? [];
  const [found, setFound] = useState<Pick<VoiceList, 'standard'> & { voices: readonly SpeakingVoice[] }>();
  const [error, setError] = useState<AppError | null>(null);
  const [asked, setAsked] = useState(0);
  const open = connection.kind === 'open' ? connection.number : 0;
  const ended = jobs
    .filter(({ phase }) => phase === 'installed')
    .map(({ jobId }) => jobId)
    .join();
  // Nothing is wanted but a new look when one of these changes.
  const look = `${open} ${asked} ${ended}`;
  useEffect(() => {
    if (open === 0) return;
    let left = false;
    api.speech.voices({ first: navigator.language }).then(
      (list) => {
        if (left) return;
        setFound(list);
        setError(null);
      },
      (thrown: unknown) => {
        if (!left) setError(toAppError(thrown));
      },
    );
    return () => {
      left = true;
    };
  }, [api, open, look]);
  return { voices: found?.voices ?? null, standard: found?.standard ?? [], error, reload: () => setAsked((n) => n + 1) };
}
