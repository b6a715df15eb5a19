/** A bar that stands still when nothing moves and never runs backwards by itself: its owner gives true fractions (UX-09). */
export function Progress(props: { label: string; fraction: number | null; words: string }) {
  const value = props.fraction === null ? undefined : Math.floor(Math.min(1, Math.max(0, props.fraction)) * 100);
  return (
    <div
      role="progressbar"
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(value === undefined ? {} : { 'aria-valuenow': value })}
      aria-valuetext={props.words}
      className="h-4 w-full overflow-hidden rounded-full bg-line"
    >
      <div className="h-full rounded-full bg-accent" style={{ width: `${value ?? 0}%` }} />
    </div>
  );
}
