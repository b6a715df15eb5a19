import type { SearchHit } from '../../../shared/contract/sessions.ts';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { dateTime } from '../../lib/format.ts';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import type { SearchState } from './ChatList.tsx';

/** What was found, with the marked words; a press opens the chat at the message. */
export function SearchHits(props: { search: SearchState; query: string; onOpened: () => void }) {
  const t = useTexts();
  const openChat = useUi((s) => s.openChat);
  const { search } = props;
  if (search.kind === 'failed') {
    return (
      <div className="px-8">
        <ErrorCard error={search.error} />
      </div>
    );
  }
  if (search.kind !== 'done') return <p className="px-16 py-8 text-small text-text-2">{t('chats.searching')}</p>;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-8 pb-8">
      <p role="status" className="px-8 py-8 text-micro text-text-3 tabular-nums">
        {search.hits.length === 0
          ? t('chats.noHits', { query: props.query })
          : search.more
            ? t('chats.hitsMore', { count: search.hits.length })
            : t('chats.hits', { count: search.hits.length })}
      </p>
      <ul>
        {search.hits.map((hit) => (
          <li key={`${hit.sessionId}:${hit.sequence ?? hit.where}`} className="border-t border-line">
            <button
              type="button"
              onClick={() => {
                openChat(hit.sessionId, hit.sequence);
                props.onOpened();
              }}
              className="move-press w-full rounded-field px-8 py-8 text-start outline-offset-[-2px] hover:bg-hover"
            >
              <span className="flex items-baseline gap-8 text-ui">
                <span className="min-w-0 flex-1 truncate font-medium text-text">
                  {hit.where === 'title' ? <Marked hit={hit} /> : (hit.title ?? t('chats.untitled'))}
                </span>
                {hit.inTrash && <span className="shrink-0 text-micro text-text-2">{t('chats.inTrash')}</span>}
              </span>
              {hit.where === 'message' && (
                <span className="mt-4 line-clamp-2 text-small text-text-2 [overflow-wrap:anywhere]">
                  <Marked hit={hit} />
                </span>
              )}
              <time dateTime={hit.at} className="mt-4 block text-micro text-text-3 tabular-nums">
                {dateTime(hit.at)}
              </time>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The excerpt with its marks; a mark that lies outside the text is left out instead of tearing it. */
function Marked({ hit }: { hit: SearchHit }) {
  const parts: React.ReactNode[] = [];
  let at = 0;
  for (const [start, end] of hit.marks) {
    if (start < at || end <= start || end > hit.excerpt.length) continue;
    parts.push(plain(hit.excerpt.slice(at, start)));
    parts.push(
      <mark key={start} className="rounded-badge bg-accent-soft px-px font-medium text-text">
        {plain(hit.excerpt.slice(start, end))}
      </mark>,
    );
    at = end;
  }
  parts.push(plain(hit.excerpt.slice(at)));
  return <>{parts}</>;
}

/** The signs of Markdown are noise in a line of a list. */
function plain(text: string): string {
  return text.replace(/\*\*|__|`+|^#+\s/gm, '');
}
