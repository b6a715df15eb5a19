import { useEffect, useState } from 'react';
import { useServices } from './services.tsx';

/** The page's monotonic time, renewed each second. */
export function useNow(): number {
  const { clock } = useServices();
  const [now, setNow] = useState(() => clock.monotonicMs());
  useEffect(() => {
    let takeBack = () => {};
    const tick = () => {
      setNow(clock.monotonicMs());
      takeBack = clock.setTimer(1000, tick);
    };
    takeBack = clock.setTimer(1000, tick);
    return () => takeBack();
  }, [clock]);
  return now;
}
