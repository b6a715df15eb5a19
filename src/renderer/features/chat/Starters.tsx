import { useTexts } from '../../lib/texts.ts';

const starters = ['explain', 'write', 'code'] as const;

/** Three questions that an installed language model can answer; a press fills the field and sends nothing (UX-101). */
export function Starters({ onPick }: { onPick: (text: string) => void }) {
  const t = useTexts();
  return (
    <div className="pt-32">
      <h2 className="px-8 text-heading text-text-2">{t('thread.startersTitle')}</h2>
      <ul className="mt-8 border-t border-line">
        {starters.map((name) => (
          <li key={name} className="border-b border-line">
            <button
              type="button"
              onClick={() => onPick(t(`thread.starters.${name}`))}
              className="move-press min-h-row-2 w-full px-8 py-8 text-start text-ui text-text-2 hover:bg-hover hover:text-text"
            >
              {t(`thread.starters.${name}`)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
