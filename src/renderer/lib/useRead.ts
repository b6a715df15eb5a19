import { useCallback, useEffect, useState } from 'react';
import { type AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Api } from './connection.ts';
import { useConnection, useLive, useServices } from './services.tsx';

export type Read<T> = {
  /** `null` until it was read once; what was last true while a newer look is on its way or has failed. */
  readonly value: T | null;
  readonly error: AppError | null;
  reload(): void;
};

/**
 * What a call says now: read with each connection, on request, and anew whenever `look` changes.
 *
 * @param read  the call; a function of the module, not of a component.
 * @param look  what may change the answer, as one text.
 */
export function useRead<T>(read: (api: Api) => Promise<T>, look = ''): Read<T> {
  const { api } = useServices();
  const connection = useConnection();
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<AppError | null>(null);
  const [asked, setAsked] = useState(0);
  const open = connection.kind === 'open' ? connection.number : 0;
  // Nothing is wanted but a new look when one of these changes.
  const wanted = `${open} ${asked} ${look}`;
  useEffect(() => {
    if (open === 0) return;
    let left = false;
    read(api).then(
      (found) => {
        if (left) return;
        setValue(found);
        setError(null);
      },
      (thrown: unknown) => {
        if (!left) setError(toAppError(thrown));
      },
    );
    return () => {
      left = true;
    };
  }, [api, open, read, wanted]);
  const reload = useCallback(() => setAsked((n) => n + 1), []);
  return { value, error, reload };
}

/** For `useRead`: the downloads that have ended, well or not; what is installed may then be another. */
export function useEndedDownloads(): string {
  const jobs = useLive('downloads').value?.jobs ?? [];
  return jobs
    .filter(({ phase }) => phase === 'installed' || phase === 'failed')
    .map(({ jobId, phase }) => `${jobId} ${phase}`)
    .join();
}
