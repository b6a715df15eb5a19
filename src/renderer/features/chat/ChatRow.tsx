import { Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { limits } from '../../../shared/domain/limits.ts';
import type { Session } from '../../../shared/domain/session.ts';
import { Hint, IconButton } from '../../components/IconButton.tsx';
import { Menu, type MenuItem, MenuOfThing } from '../../components/Menu.tsx';
import { useTexts } from '../../lib/texts.ts';

export type ChatDeeds = {
  readonly open: (session: Session) => void;
  readonly rename: (session: Session, title: string) => void;
  readonly trash: (session: Session) => void;
};

/** Titles longer than this may end in "…"; they show whole on focus and under the pointer (UX-100). */
const longTitle = 26;

export function ChatRow(props: { session: Session; chosen: boolean; tabbable: boolean; deeds: ChatDeeds }) {
  const t = useTexts();
  const { session, deeds } = props;
  const [renaming, setRenaming] = useState(false);
  const title = session.title ?? t('chats.untitled');
  const items: MenuItem[] = [
    { name: t('chats.rename'), icon: Pencil, keys: 'F2', run: () => setRenaming(true) },
    { name: t('chats.trash'), icon: Trash2, keys: 'Del', run: () => deeds.trash(session) },
  ];
  if (renaming) return <RenameField session={session} onDone={() => setRenaming(false)} deeds={deeds} />;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'F2') setRenaming(true);
    else if (event.key === 'Delete') deeds.trash(session);
    else return;
    event.preventDefault();
  };
  const button = (
    <button
      type="button"
      data-row
      tabIndex={props.tabbable ? 0 : -1}
      aria-current={props.chosen ? 'page' : undefined}
      onClick={() => deeds.open(session)}
      onKeyDown={onKeyDown}
      className="h-full min-w-0 flex-1 truncate rounded-field px-8 text-start outline-offset-[-2px]"
    >
      {title}
    </button>
  );
  return (
    <MenuOfThing items={items} label={t('chats.menu', { title })}>
      <div
        data-chosen={props.chosen || undefined}
        className={`move-press group flex h-row items-center rounded-field text-ui ${props.chosen ? 'bg-accent-soft font-medium text-text' : 'text-text-2 hover:bg-hover'}`}
      >
        {title.length > longTitle ? (
          <Hint text={title} side="right">
            {button}
          </Hint>
        ) : (
          button
        )}
        {session.status === 'active' && <span className="shrink-0 pr-4 text-micro text-text-2">{t('chats.busy')}</span>}
        <Menu items={items} label={t('chats.menu', { title })}>
          <IconButton
            icon={Ellipsis}
            name={t('chats.menu', { title })}
            tabIndex={props.tabbable ? 0 : -1}
            className="mr-4 size-target opacity-60 group-hover:opacity-100 focus-visible:opacity-100"
          />
        </Menu>
      </div>
    </MenuOfThing>
  );
}

/** Enter and leaving the field keep the new title, Esc the old one. */
export function RenameField(props: { session: Session; onDone: () => void; deeds: Pick<ChatDeeds, 'rename'> }) {
  const t = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => field.current?.select(), []);
  const finish = (keep: boolean) => {
    if (done.current) return;
    done.current = true;
    const title = field.current?.value.trim() ?? '';
    if (keep && title !== '' && title !== props.session.title) props.deeds.rename(props.session, title);
    props.onDone();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        finish(true);
      }}
      className="flex h-row items-center"
    >
      <input
        ref={field}
        aria-label={t('chats.renameField')}
        defaultValue={props.session.title ?? ''}
        maxLength={limits.titleCharacters}
        spellCheck={false}
        onBlur={() => finish(true)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          finish(false);
        }}
        className="h-control w-full min-w-0 rounded-field border border-control bg-surface px-8 text-ui text-text"
      />
    </form>
  );
}
