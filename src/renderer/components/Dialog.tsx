import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

/** A question before what cannot be undone (UX-08). Esc and the ground behind it keep things as they are. */
export function Dialog(props: { open: boolean; onClose: () => void; title: string; body: string; children: ReactNode }) {
  return (
    <Radix.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-20 bg-scrim" />
        <Radix.Content className="move-menu fixed top-1/2 left-1/2 z-20 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded-card border border-line bg-raised p-24 shadow-dialog">
          <Radix.Title className="text-heading">{props.title}</Radix.Title>
          <Radix.Description className="mt-8 text-ui text-text-2 [overflow-wrap:anywhere]">{props.body}</Radix.Description>
          <div className="mt-24 flex flex-wrap justify-end gap-8">{props.children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** A list that lies over the page in a narrow window (UX-153). It holds the focus while it is open; Esc closes it. */
export function Drawer(props: { open: boolean; onClose: () => void; title: string; children: ReactNode }) {
  return (
    <Radix.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-10 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          className="move-drawer fixed inset-y-0 left-0 z-10 flex w-list max-w-[calc(100vw-3rem)] flex-col border-r border-line bg-page shadow-dialog"
        >
          <Radix.Title className="sr-only">{props.title}</Radix.Title>
          {props.children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
