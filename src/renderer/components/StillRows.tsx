import { useEffect, useState } from 'react';
import { useServices } from '../lib/services.tsx';

const afterMs = 200;

/** Still grey rows while a list is read, shown only when that takes longer than a blink (experience page, section 5). */
export function StillRows(props: { label: string; count: number }) {
  const { clock } = useServices();
  const [shown, setShown] = useState(false);
  useEffect(() => clock.setTimer(afterMs, () => setShown(true)), [clock]);
  return (
    <div role="status" aria-label={props.label} className="flex flex-col gap-8 p-8">
      {shown && Array.from({ length: props.count }, (_, i) => <div key={i} className="h-target rounded-field bg-hover" />)}
    </div>
  );
}
