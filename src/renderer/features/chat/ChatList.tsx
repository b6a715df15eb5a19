import { useVirtualizer } from '@tanstack/react-virtual';
import { Plus, Search, Trash2, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { SearchHit } from '../../../shared/contract/sessions.ts';
import type { SessionId } from '../../../shared/domain/ids.ts';
import { limits } from '../../../shared/domain/limits.ts';
import type { Session } from '../../../shared/domain/session.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import { useConnection, useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import { type ChatDeeds, ChatRow } from './ChatRow.tsx';
import { type ListItem, listItems, mergeSessions } from './listItems.ts';
import { SearchHits } from './SearchHits.tsx';
import { Trash } from './Trash.tsx';

const virtualFrom = 100;
const rowHeight = 36;
const searchAfterMs = 200;

/** The list of chats with its search and its trash. `onOpened` closes the drawer of a narrow window. */
export function ChatList({ onOpened }: { onOpened: () => void }) {
  const trashOpen = useUi((s) => s.trashOpen);
  return trashOpen ? <Trash /> : <Chats onOpened={onOpened} />;
}

function Chats({ onOpened }: { onOpened: () => void }) {
  const t = useTexts();
  const { api } = useServices();
  const ui = useUi();
  const { value, error: readError } = useLive('sessions');
  const [older, setOlder] = useState<{ sessions: readonly Session[]; next: string | null } | null>(null);
  const [trashed, setTrashed] = useState<Session | null>(null);
  const [error, setError] = useState<AppError | null>(null);
  const search = useSearch(ui.query);
  const sessions = useMemo(() => mergeSessions(value?.sessions ?? [], older?.sessions ?? []), [value, older]);

  const run = (deed: () => Promise<unknown>) => {
    setError(null);
    deed().catch((thrown: unknown) => setError(toAppError(thrown)));
  };
  const leave = (id: SessionId) => {
    if (useUi.getState().sessionId === id) ui.openChat(null);
  };
  const deeds: ChatDeeds = {
    open: (session) => {
      ui.openChat(session.id);
      onOpened();
    },
    rename: (session, title) => run(() => api.sessions.setTitle({ sessionId: session.id, title })),
    trash: (session) =>
      run(async () => {
        await api.sessions.trash({ sessionId: session.id });
        setOlder((now) => now && { ...now, sessions: now.sessions.filter((s) => s.id !== session.id) });
        setTrashed(session);
        leave(session.id);
      }),
  };
  const undo = (session: Session) => run(() => api.sessions.restore({ sessionId: session.id }).then(() => setTrashed(null)));
  const readOlder = () =>
    run(async () => {
      const known = new Set(sessions.map((s) => s.id));
      let token = older?.next ?? null;
      let fresh: readonly Session[] = [];
      // The first pages hold what the live list already shows; a press must bring something new.
      do {
        const page = await api.sessions.list({ limit: limits.sessionPageMax, ...(token === null ? {} : { pageToken: token }) });
        fresh = page.sessions.filter((s) => !known.has(s.id));
        token = page.nextPageToken;
      } while (fresh.length === 0 && token !== null);
      setOlder((now) => ({ sessions: [...(now?.sessions ?? []), ...fresh], next: token }));
    });
  const hasOlder = value !== null && sessions.length < value.total && (older === null || older.next !== null);

  return (
    <>
      <div className="flex items-center gap-8 p-8">
        <div className="relative min-w-0 flex-1">
          <Search size={16} strokeWidth={1.75} aria-hidden="true" className="pointer-events-none absolute top-8 left-8 text-text-3" />
          <input
            id="search-chats"
            type="text"
            role="searchbox"
            aria-label={t('chats.search')}
            placeholder={t('chats.search')}
            value={ui.query}
            maxLength={limits.queryCharacters}
            spellCheck={false}
            onChange={(event) => ui.set({ query: event.target.value })}
            onKeyDown={(event) => {
              if (event.key !== 'Escape' || ui.query === '') return;
              event.preventDefault();
              ui.set({ query: '' });
            }}
            className="h-control w-full rounded-field border border-control bg-surface pr-32 pl-32 text-ui text-text"
          />
          {ui.query !== '' && (
            <IconButton icon={X} name={t('chats.clear')} className="absolute top-0 right-0" onClick={() => ui.set({ query: '' })} />
          )}
        </div>
        <IconButton
          icon={Plus}
          name={t('chats.new')}
          keys="Ctrl N"
          side="bottom"
          className="border border-control"
          onClick={() => {
            ui.openChat(null);
            onOpened();
          }}
        />
      </div>
      {trashed !== null && (
        <div
          role="status"
          className="mx-8 mb-8 flex items-center gap-8 rounded-field border border-line bg-surface py-4 pr-4 pl-8 text-small text-text-2"
        >
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            {t('chats.trashed', { title: trashed.title ?? t('chats.untitled') })}
          </span>
          <Button look="quiet" className="text-accent" onClick={() => undo(trashed)}>
            {t('chats.undo')}
          </Button>
          <IconButton icon={X} name={t('app.close')} className="size-target" onClick={() => setTrashed(null)} />
        </div>
      )}
      {error !== null && (
        <div className="px-8 pb-8">
          <ErrorCard error={error} run={{ retry: () => setError(null), dismiss: () => setError(null) }} />
        </div>
      )}
      {ui.query.trim() !== '' ? (
        <SearchHits search={search} query={ui.query.trim()} onOpened={onOpened} />
      ) : value === null ? (
        readError === null ? (
          <StillRows label={t('chats.list')} count={6} />
        ) : (
          <div className="px-8">
            <ErrorCard error={readError} />
          </div>
        )
      ) : sessions.length === 0 ? (
        <p className="px-16 py-8 text-ui text-text-2">{t('chats.empty')}</p>
      ) : (
        <Rows
          sessions={sessions}
          chosen={ui.sessionId}
          deeds={deeds}
          foot={
            hasOlder ? (
              <Button look="quiet" className="m-8" onClick={readOlder}>
                {t('chats.older')}
              </Button>
            ) : null
          }
        />
      )}
      <div className="mt-auto flex items-center border-t border-line p-8">
        <Button look="quiet" onClick={() => ui.set({ trashOpen: true })}>
          <Trash2 size={16} strokeWidth={1.75} aria-hidden="true" />
          {value !== null && value.trashed > 0 ? t('trash.openCount', { count: value.trashed }) : t('trash.open')}
        </Button>
        {value !== null && value.total > 0 && (
          <span className="ml-auto pr-8 text-micro text-text-3 tabular-nums">{t('chats.count', { count: value.total })}</span>
        )}
      </div>
    </>
  );
}

function Rows(props: { sessions: readonly Session[]; chosen: SessionId | null; deeds: ChatDeeds; foot: React.ReactNode }) {
  const t = useTexts();
  const { clock } = useServices();
  const items = useMemo(() => listItems(props.sessions, clock.nowMs()), [props.sessions, clock]);
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<string | null>(null);
  const virtual = items.length > virtualFrom;
  const stop = props.sessions.some((s) => s.id === at) ? at : (props.chosen ?? props.sessions[0]?.id ?? null);
  const tabStop = props.sessions.some((s) => s.id === stop) ? stop : (props.sessions[0]?.id ?? null);
  const tabIndex = items.findIndex((item) => item.key === tabStop);
  const rows = useVirtualizer({
    count: virtual ? items.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (i) => items[i]?.key ?? i,
    overscan: 12,
    // The row that holds the tab stop is always there, or the list could not be reached by key.
    rangeExtractor: (range) => {
      const from = Math.max(0, range.startIndex - range.overscan);
      const to = Math.min(range.count - 1, range.endIndex + range.overscan);
      const shown = Array.from({ length: to - from + 1 }, (_, i) => from + i);
      if (tabIndex === -1 || (tabIndex >= from && tabIndex <= to)) return shown;
      return tabIndex < from ? [tabIndex, ...shown] : [...shown, tabIndex];
    },
    initialRect: { width: 264, height: 720 },
  });

  // One tab stop for the whole list; the arrows move inside it (UX-230).
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset['row'] === undefined) return;
    const chats = items.flatMap((item, index) => (item.kind === 'chat' ? [{ id: item.session.id, index }] : []));
    const now = chats.findIndex((c) => c.id === tabStop);
    const next =
      event.key === 'ArrowDown'
        ? now + 1
        : event.key === 'ArrowUp'
          ? now - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? chats.length - 1
              : null;
    if (next === null || event.altKey) return;
    event.preventDefault();
    const chat = chats[Math.min(chats.length - 1, Math.max(0, next))];
    if (chat === undefined) return;
    setAt(chat.id);
    if (virtual) rows.scrollToIndex(chat.index);
    pending.current = chat.id;
  };
  const pending = useRef<string | null>(null);
  useEffect(() => {
    if (pending.current === null) return;
    const row = box.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(pending.current)}"] [data-row]`);
    if (row == null) return;
    pending.current = null;
    row.focus();
  });

  const item = (entry: ListItem) =>
    entry.kind === 'day' ? (
      <h2 className="flex h-row items-end px-8 pb-4 text-micro text-text-3">
        {entry.day === 'today' ? t('chats.today') : entry.day === 'yesterday' ? t('chats.yesterday') : entry.day}
      </h2>
    ) : (
      <ChatRow
        session={entry.session}
        chosen={entry.session.id === props.chosen}
        tabbable={entry.session.id === tabStop}
        deeds={props.deeds}
      />
    );

  return (
    <div ref={box} onKeyDown={onKeyDown} className="min-h-0 flex-1 overflow-y-auto px-8 pb-8">
      <div role="list" aria-label={t('chats.list')} className="relative" style={virtual ? { height: rows.getTotalSize() } : undefined}>
        {virtual
          ? rows.getVirtualItems().map((row) => {
              const entry = items[row.index];
              return (
                entry !== undefined && (
                  <div
                    key={row.key}
                    role="listitem"
                    aria-setsize={items.length}
                    aria-posinset={row.index + 1}
                    data-id={entry.key}
                    className="absolute inset-x-0 top-0"
                    style={{ transform: `translateY(${row.start}px)` }}
                  >
                    {item(entry)}
                  </div>
                )
              );
            })
          : items.map((entry) => (
              <div key={entry.key} role="listitem" data-id={entry.key}>
                {item(entry)}
              </div>
            ))}
      </div>
      {props.foot}
    </div>
  );
}

export type SearchState =
  | { readonly kind: 'off' | 'searching' }
  | { readonly kind: 'done'; readonly hits: readonly SearchHit[]; readonly more: boolean }
  | { readonly kind: 'failed'; readonly error: AppError };

/** Asks a moment after the last key; an older question's answer never replaces a newer one's. While it asks, the last hits stay. */
function useSearch(query: string): SearchState {
  const { api, clock } = useServices();
  const connection = useConnection();
  const [answer, setAnswer] = useState<SearchState>({ kind: 'searching' });
  const open = connection.kind === 'open';
  const words = query.trim();
  useEffect(() => {
    if (words === '' || !open) return;
    const abort = new AbortController();
    const takeBack = clock.setTimer(searchAfterMs, () => {
      api.sessions.search({ query: words }, { signal: abort.signal }).then(
        ({ hits, more }) => setAnswer({ kind: 'done', hits, more }),
        (thrown: unknown) => {
          if (!abort.signal.aborted) setAnswer({ kind: 'failed', error: toAppError(thrown) });
        },
      );
    });
    return () => {
      takeBack();
      abort.abort();
    };
  }, [api, clock, words, open]);
  return words === '' ? { kind: 'off' } : answer;
}
