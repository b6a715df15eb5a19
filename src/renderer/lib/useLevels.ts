import { useEffect, useState } from 'react';
import { useServices } from './services.tsx';

/** Words and steps that change with the sound are renewed four times a second, so that they can be read (UX-276). */
export const readableMs = 250;

/** The sound of the last seconds, in words' pace: the newest level, and how much speech since the microphone was pressed open. */
export function useLevels() {
  const { voice, clock } = useServices();
  const read = () => ({ latest: voice.levels.latest(), speechMs: voice.levels.speechMs() });
  const [now, setNow] = useState(read);
  useEffect(() => {
    let takeBack: (() => void) | null = null;
    const look = () => {
      takeBack = null;
      setNow({ latest: voice.levels.latest(), speechMs: voice.levels.speechMs() });
    };
    const unsubscribe = voice.levels.subscribe(() => {
      takeBack ??= clock.setTimer(readableMs, look);
    });
    look();
    return () => {
      unsubscribe();
      takeBack?.();
    };
  }, [voice, clock]);
  return now;
}
