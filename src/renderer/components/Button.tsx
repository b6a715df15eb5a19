import type { ComponentProps } from 'react';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

const looks: Record<Look, string> = {
  primary:
    'h-primary px-16 bg-accent text-on-accent font-medium hover:opacity-90 disabled:bg-hover disabled:text-text-3 disabled:opacity-100',
  plain: 'h-control px-12 border border-control text-text font-medium hover:bg-hover disabled:text-text-3 disabled:border-line',
  quiet: 'h-control px-8 text-text-2 hover:bg-hover hover:text-text disabled:text-text-3',
  danger: 'h-control px-12 border border-danger text-danger font-medium hover:bg-danger-soft',
};

/** `primary` is the one filled button of a place (UX-154). A button says the deed. */
export function Button({ look = 'plain', className = '', ...props }: ComponentProps<'button'> & { look?: Look }) {
  return (
    <button
      type="button"
      {...props}
      className={`move-press inline-flex shrink-0 items-center justify-center gap-8 rounded-field text-ui whitespace-nowrap ${looks[look]} ${className}`}
    />
  );
}
