import type { LucideIcon } from 'lucide-react';
import { Tooltip } from 'radix-ui';
import { type ComponentProps, type ReactNode, useState } from 'react';

type Props = Omit<ComponentProps<'button'>, 'children'> & {
  icon: LucideIcon;
  /** The name for assistive techniques, and the tooltip. */
  name: string;
  keys?: string;
  look?: 'pale' | 'primary';
  side?: 'top' | 'right' | 'bottom' | 'left';
};

const looks = {
  pale: 'size-control text-text-3 hover:bg-hover hover:text-text focus-visible:text-text disabled:opacity-50',
  primary: 'size-primary bg-accent text-on-accent hover:opacity-90 disabled:bg-hover disabled:text-text-3 disabled:opacity-100',
};

/** An icon that stands alone: only in the strip, under messages and at lists (UX-278), always with name and tooltip. */
export function IconButton({ icon: Icon, name, keys, look = 'pale', side = 'top', className = '', ...props }: Props) {
  return (
    <Hint text={name} keys={keys} side={side}>
      <button
        type="button"
        aria-label={name}
        {...props}
        className={`move-press inline-flex shrink-0 items-center justify-center rounded-field ${looks[look]} ${className}`}
      >
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
      </button>
    </Hint>
  );
}

/** @param quiet  it never opens: while it is open it takes the next Esc. */
export function Hint(props: {
  text: string;
  keys?: string | undefined;
  side?: 'top' | 'right' | 'bottom' | 'left';
  quiet?: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  return (
    <Tooltip.Root open={open && props.quiet !== true} onOpenChange={setOpen}>
      <Tooltip.Trigger asChild>{props.children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          side={props.side ?? 'top'}
          sideOffset={4}
          collisionPadding={8}
          className="z-30 max-w-list rounded-field border border-line bg-raised px-8 py-4 text-small text-text shadow-menu"
        >
          {props.text}
          {props.keys !== undefined && <span className="ml-8 text-text-3">{props.keys}</span>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
