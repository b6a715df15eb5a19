import type { LucideIcon } from 'lucide-react';
import { ContextMenu, DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

export type MenuItem = {
  readonly name: string;
  readonly icon: LucideIcon;
  readonly keys?: string;
  readonly danger?: boolean;
  readonly run: () => void;
};

const panel = 'move-menu z-30 min-w-rail rounded-card border border-line bg-raised p-4 text-ui text-text shadow-menu';
const row =
  'flex h-control items-center gap-8 rounded-field px-8 outline-none data-[highlighted]:bg-hover data-[highlighted]:outline-2 data-[highlighted]:-outline-offset-2 data-[highlighted]:outline-accent';

function Inner({ item }: { item: MenuItem }) {
  const Icon = item.icon;
  return (
    <>
      <Icon size={16} strokeWidth={1.75} aria-hidden="true" className={item.danger ? 'text-danger' : 'text-text-3'} />
      <span className={`flex-1 ${item.danger ? 'text-danger' : ''}`}>{item.name}</span>
      {item.keys !== undefined && <span className="text-small text-text-3">{item.keys}</span>}
    </>
  );
}

/** A menu that opens from its button. It never takes the page away: what lies behind stays usable (UX-05). */
export function Menu(props: { items: readonly MenuItem[]; children: ReactNode; label: string }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{props.children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} collisionPadding={8} aria-label={props.label} className={panel}>
          {props.items.map((item) => (
            <DropdownMenu.Item key={item.name} onSelect={item.run} className={row}>
              <Inner item={item} />
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** The same menu on the right mouse button and on Shift F10 (UX-99). */
export function MenuOfThing(props: { items: readonly MenuItem[]; children: ReactNode; label: string }) {
  return (
    <ContextMenu.Root modal={false}>
      <ContextMenu.Trigger asChild>{props.children}</ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Content collisionPadding={8} aria-label={props.label} className={panel}>
          {props.items.map((item) => (
            <ContextMenu.Item key={item.name} onSelect={item.run} className={row}>
              <Inner item={item} />
            </ContextMenu.Item>
          ))}
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}
