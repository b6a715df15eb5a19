import { useEffect, useState } from 'react';
import { useServices } from './services.tsx';

/** The page's monotonic time, renewed each second while `on`. */
export function useNow(on: boolean): number {
  const { clock } = useServices();
  const [now, setNow] = useState(() => clock.monotonicMs());
  useEffect(() => {
    if (!on) return;
    setNow(clock.monotonicMs());
    let takeBack = () => {};
    const tick = () => {
      setNow(clock.monotonicMs());
      takeBack = clock.setTimer(1000, tick);
    };
    takeBack = clock.setTimer(1000, tick);
    return () => takeBack();
  }, [on, clock]);
  return now;
}
