/** A question with yes and no, off until somebody answers it. The word says the state too: colour is never the only sign (UX-126). */
export function Switch(props: {
  id: string;
  title: string;
  about: string;
  on: boolean;
  words: { on: string; off: string };
  onChange: (on: boolean) => void;
}) {
  const { id, on } = props;
  return (
    <div className="flex items-center justify-between gap-24 border-b border-line py-12">
      <div className="min-w-0">
        <p id={`${id}-title`} className="text-ui font-medium">
          {props.title}
        </p>
        <p id={`${id}-about`} className="mt-4 text-small text-text-2">
          {props.about}
        </p>
      </div>
      <button
        type="button"
        role="switch"
        aria-checked={on}
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-about`}
        onClick={() => props.onChange(!on)}
        className="move-press flex h-control shrink-0 items-center gap-8 rounded-field px-8 text-small text-text-2 hover:bg-hover"
      >
        <span aria-hidden="true">{on ? props.words.on : props.words.off}</span>
        <span
          aria-hidden="true"
          className={`flex h-16 w-32 items-center rounded-full border px-px ${on ? 'justify-end border-accent bg-accent' : 'justify-start border-control'}`}
        >
          <span className={`size-12 rounded-full ${on ? 'bg-on-accent' : 'bg-control'}`} />
        </span>
      </button>
    </div>
  );
}
