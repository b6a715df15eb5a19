import { ArrowLeft } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { limits } from '../../../shared/domain/limits.ts';
import type { Session } from '../../../shared/domain/session.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import { dateTime } from '../../lib/format.ts';
import { useConnection, useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';

const dayMs = 86_400_000;

/** Chats of the last 30 days that were put away. Restoring is one press; erasing is final, so it asks (UX-08). */
export function Trash() {
  const t = useTexts();
  const { api } = useServices();
  const connection = useConnection();
  const set = useUi((s) => s.set);
  const trashedCount = useLive('sessions').value?.trashed;
  const [list, setList] = useState<{ sessions: readonly Session[]; next: string | null } | null>(null);
  const [error, setError] = useState<AppError | null>(null);
  const [erasing, setErasing] = useState<Session | null>(null);

  const read = useCallback(
    (pageToken: string | null) =>
      api.sessions.list({ trash: true, limit: limits.sessionPage, ...(pageToken === null ? {} : { pageToken }) }).then(
        (page) => {
          setList((now) => ({
            sessions: pageToken === null ? page.sessions : [...(now?.sessions ?? []), ...page.sessions],
            next: page.nextPageToken,
          }));
          setError(null);
        },
        (thrown: unknown) => setError(toAppError(thrown)),
      ),
    [api],
  );
  const open = connection.kind === 'open';
  useEffect(() => {
    if (open) void read(null);
  }, [open, read, trashedCount]);

  const run = (deed: () => Promise<unknown>) => {
    deed().then(
      () => read(null),
      (thrown: unknown) => setError(toAppError(thrown)),
    );
  };
  const titleOf = (session: Session) => session.title ?? t('chats.untitled');
  return (
    <>
      <div className="flex items-center gap-8 p-8">
        <IconButton icon={ArrowLeft} name={t('trash.back')} side="bottom" onClick={() => set({ trashOpen: false })} />
        <h2 className="text-heading">{t('trash.title')}</h2>
      </div>
      {error !== null && (
        <div className="px-8 pb-8">
          <ErrorCard error={error} run={{ retry: () => void read(null), reload: () => void read(null) }} />
        </div>
      )}
      {list === null ? (
        error === null && <StillRows label={t('trash.title')} count={3} />
      ) : list.sessions.length === 0 ? (
        <p className="px-16 text-ui text-text-2">{t('trash.empty')}</p>
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto px-8 pb-8">
          <p className="px-8 pb-8 text-small text-text-2">{t('trash.hint')}</p>
          <ul>
            {list.sessions.map((session) => (
              <li key={session.id} className="border-t border-line px-8 py-8">
                <p className="text-ui [overflow-wrap:anywhere]">{titleOf(session)}</p>
                {session.trashedAt !== null && (
                  <p className="text-micro text-text-3 tabular-nums">
                    {t('trash.goneOn', {
                      date: dateTime(new Date(Date.parse(session.trashedAt) + limits.trashDays * dayMs).toISOString()),
                    })}
                  </p>
                )}
                <div className="mt-4 -ml-8 flex gap-4">
                  <Button
                    look="quiet"
                    aria-label={t('trash.restoreOne', { title: titleOf(session) })}
                    onClick={() => run(() => api.sessions.restore({ sessionId: session.id }))}
                  >
                    {t('trash.restore')}
                  </Button>
                  <Button look="quiet" aria-label={t('trash.eraseOne', { title: titleOf(session) })} onClick={() => setErasing(session)}>
                    {t('trash.erase')}
                  </Button>
                </div>
              </li>
            ))}
          </ul>
          {list.next !== null && (
            <Button look="quiet" onClick={() => void read(list.next)}>
              {t('trash.older')}
            </Button>
          )}
        </div>
      )}
      <Dialog
        open={erasing !== null}
        onClose={() => setErasing(null)}
        title={t('trash.eraseTitle')}
        body={erasing === null ? '' : t('trash.eraseBody', { title: titleOf(erasing) })}
      >
        <Button onClick={() => setErasing(null)}>{t('trash.eraseKeep')}</Button>
        <Button
          look="danger"
          onClick={() => {
            const session = erasing;
            setErasing(null);
            if (session === null) return;
            if (useUi.getState().sessionId === session.id) useUi.getState().openChat(null);
            run(() => api.sessions.erase({ sessionId: session.id, confirm: true }));
          }}
        >
          {t('trash.eraseDo')}
        </Button>
      </Dialog>
    </>
  );
}
