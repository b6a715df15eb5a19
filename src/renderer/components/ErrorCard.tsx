import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { WireError } from '../../shared/errors/appError.ts';
import { type ErrorAction, errorWords } from '../lib/errorTexts.ts';
import { useTexts } from '../lib/texts.ts';
import { Button } from './Button.tsx';
import { CopyButton } from './CopyButton.tsx';

export type ErrorLike = Pick<WireError, 'data'> & { readonly code: string };

/**
 * An error where its deed was done (UX-06, UX-280): what happened, what it means for your work, what to do now, and a button for it.
 * Where this place cannot do what the error asks for, the button copies the details, so that there is always one.
 *
 * @param run   what this place can do, by action.
 * @param more  a second way out, beside the button.
 */
export function ErrorCard(props: {
  error: ErrorLike;
  run?: Partial<Record<ErrorAction, (() => void) | undefined>>;
  loud?: boolean;
  more?: ReactNode;
}) {
  const t = useTexts();
  const { key, values, action } = errorWords(props.error);
  const own = props.run?.[action];
  const words = { ...values };
  return (
    <section role={props.loud ? 'alert' : 'group'} aria-label={t(`errors.${key}.what`, words)} className="soft-danger rounded-card p-16">
      <div className="flex gap-8">
        <CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" className="mt-px shrink-0 text-danger" />
        <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <p className="text-ui font-medium text-text">{t(`errors.${key}.what`, words)}</p>
          <p className="mt-4 text-ui text-text-2">{t(`errors.${key}.means`, words)}</p>
          <p className="mt-4 text-ui text-text-2">{t(`errors.${key}.do`, words)}</p>
          <div className="mt-12 flex flex-wrap items-center gap-8">
            {own !== undefined ? (
              <Button onClick={own}>{t(`actions.${action}`)}</Button>
            ) : (
              <CopyButton
                words
                name={action === 'copy' ? t('actions.copy') : t('actions.copyDetails')}
                text={() => (action === 'copy' ? (values['incident'] ?? props.error.code) : details(props.error))}
              />
            )}
            {props.more}
            <span className="text-micro text-text-2">{t('failed.code', { code: props.error.code })}</span>
          </div>
        </div>
      </div>
    </section>
  );
}

function details(error: ErrorLike): string {
  return JSON.stringify({ code: error.code, ...error.data }, null, 2);
}
