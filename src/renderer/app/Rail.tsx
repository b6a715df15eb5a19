import { Hint } from '../components/IconButton.tsx';
import { useTexts } from '../lib/texts.ts';
import { useUi } from '../lib/ui.ts';
import { places } from './places.ts';

/** Words at 196, icons at 56, a row above the page when there is only one column (UX-153). */
export function Rail({ layout }: { layout: 'one' | 'narrow' | 'wide' }) {
  const t = useTexts();
  const { place, go } = useUi();
  const words = layout === 'wide';
  return (
    <nav
      aria-label={t('app.places')}
      data-region="rail"
      className={
        layout === 'one'
          ? 'flex shrink-0 gap-4 border-b border-line bg-sunken p-4'
          : `flex shrink-0 flex-col gap-4 border-r border-line bg-sunken p-8 ${words ? 'w-rail' : 'w-rail-narrow'}`
      }
    >
      {words && <p className="px-8 pt-4 pb-8 text-heading">{t('app.name')}</p>}
      {places.map(({ id, icon: Icon, key, group }, i) => {
        const chosen = place === id;
        const button = (
          <button
            key={id}
            type="button"
            aria-label={words ? undefined : t(`places.${id}`)}
            aria-current={chosen ? 'page' : undefined}
            aria-keyshortcuts={`Control+${key}`}
            onClick={() => go(id)}
            className={`move-press flex h-row items-center gap-8 rounded-field text-ui ${words ? 'px-8' : 'justify-center px-8'} ${
              chosen ? 'bg-accent-soft font-medium text-text' : 'text-text-2 hover:bg-hover hover:text-text'
            }`}
          >
            <Icon size={20} strokeWidth={1.75} aria-hidden="true" />
            {words && t(`places.${id}`)}
          </button>
        );
        const apart = layout !== 'one' && i > 0 && places[i - 1]?.group !== group;
        return (
          <div key={id} className={apart ? `border-t border-line pt-8 ${i === places.length - 1 ? 'mt-auto' : 'mt-4'}` : ''}>
            <div className="flex flex-col">
              {words ? (
                button
              ) : (
                <Hint text={t(`places.${id}`)} keys={`Ctrl ${key}`} side={layout === 'one' ? 'bottom' : 'right'}>
                  {button}
                </Hint>
              )}
            </div>
          </div>
        );
      })}
    </nav>
  );
}
