import type { AppError } from '../../shared/errors/appError.ts';
import { Button } from '../components/Button.tsx';
import { ErrorCard } from '../components/ErrorCard.tsx';
import { useServices } from '../lib/services.tsx';
import { useTexts } from '../lib/texts.ts';

/** Shown instead of the places when the runtime cannot start and only a person can help: cause, what it means, and the way out. */
export function RuntimeFailed({ error }: { error: AppError }) {
  const t = useTexts();
  const { connection } = useServices();
  const again = () => connection.retry();
  const startEmpty = () => connection.retry('empty');
  const hasBackup = error.code === 'DB_DAMAGED' && typeof error.data['backupAt'] === 'string';
  return (
    <main className="mx-auto w-full max-w-thread px-16 pt-48">
      <h1 className="mb-16 text-title">{t('failed.title')}</h1>
      <ErrorCard
        loud
        error={error}
        run={{
          restart: again,
          retry: again,
          wait: again,
          restore: () => connection.retry('restore'),
          startEmpty,
          reload: () => location.reload(),
        }}
        more={hasBackup && <Button onClick={startEmpty}>{t('actions.startEmpty')}</Button>}
      />
    </main>
  );
}
