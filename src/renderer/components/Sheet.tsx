import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { IconButton } from './IconButton.tsx';

/** A large dialog with a head that stays, a list that scrolls and a foot that stays. It holds the focus while it is open; Esc closes it. */
export function Sheet(props: {
  open: boolean;
  onClose: () => void;
  title: string;
  about: string;
  closeName: string;
  head?: ReactNode;
  foot?: ReactNode;
  children: ReactNode;
}) {
  const content = useRef<HTMLDivElement>(null);
  return (
    <Radix.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-20 bg-scrim" />
        <Radix.Content
          ref={content}
          // Not the button that closes it, whose tooltip would open at once.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            content.current?.focus();
          }}
          className="move-menu fixed inset-16 z-20 m-auto flex max-w-thread flex-col rounded-card border border-line bg-raised shadow-dialog"
        >
          <div className="border-b border-line p-24">
            <div className="flex items-start justify-between gap-16">
              <div className="min-w-0">
                <Radix.Title className="text-title">{props.title}</Radix.Title>
                <Radix.Description className="mt-4 text-small text-text-2">{props.about}</Radix.Description>
              </div>
              <IconButton icon={X} name={props.closeName} side="left" onClick={props.onClose} />
            </div>
            {props.head}
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-24 pb-24">{props.children}</div>
          {props.foot !== undefined && <div className="border-t border-line px-24 py-16">{props.foot}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
