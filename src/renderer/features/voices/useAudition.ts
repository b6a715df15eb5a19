import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { type Audition, type AuditionState, createAudition } from '../../lib/audition.ts';
import { useLive, useServices } from '../../lib/services.tsx';

/** Phases in which somebody talks, or may at once: a sample would talk into it. */
const talking = new Set(['listening', 'hearing', 'pausing', 'committing', 'held', 'speaking']);

/** One audition for as long as the caller is on the screen. It stops when anyone talks (VO-96). */
export function useAudition(): { audition: Audition; state: AuditionState } {
  const { api, clock, sound } = useServices();
  const phase = useLive('voice').value?.phase ?? 'off';
  const [audition] = useState(() =>
    createAudition({
      api,
      clock,
      openSound: async () => sound ?? (await import('../../audio/browserSound.ts')).browserSound,
      onError: () => {},
    }),
  );
  useEffect(() => () => audition.close(), [audition]);
  const isTalking = talking.has(phase);
  useEffect(() => {
    if (isTalking) audition.stop();
  }, [audition, isTalking]);
  return { audition, state: useStore(audition.state) };
}
