import { MicOff } from 'lucide-react';
import { lazy, Suspense, useEffect } from 'react';
import { useStore } from 'zustand';
import { type VoiceWord, voiceWord } from '../../../shared/domain/voice.ts';
import { Button } from '../../components/Button.tsx';
import { VoiceSign, voiceTone } from '../../components/VoiceSign.tsx';
import { useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';

const load = () => import('./VoiceBarBody.tsx');
const Beside = lazy(() => load().then(({ Beside: component }) => ({ default: component })));
const Below = lazy(() => load().then(({ Below: component }) => ({ default: component })));

/**
 * The one bar above the composer (UX-38): sign and word of the state, what belongs beside it, captions below. Only sign and word are part
 * of the page's start; the rest comes after the first paint.
 */
export function VoiceBar() {
  const t = useTexts();
  const { voice } = useServices();
  const { value, fresh } = useLive('voice');
  const turningOn = useStore(voice.state, (s) => s.turningOn);
  // What is not known is not shown as if it were: without a way to the runtime voice is off (UX-01).
  const view = fresh ? value : null;
  const { word, muteSign } = view === null ? { word: 'off' as const, muteSign: false } : voiceWord(view);
  useEffect(() => {
    load().catch(() => undefined);
  }, []);
  return (
    <section aria-label={t('voice.bar')} data-word={word} className="mx-auto mb-8 w-full max-w-thread">
      <div className="flex min-h-row flex-wrap items-center gap-x-12 gap-y-4">
        <p className="flex shrink-0 items-center gap-8 text-ui">
          <VoiceSign word={word} />
          <span className={`font-medium ${wordTone(word)}`}>{t(`voice.words.${word}`)}</span>
          {muteSign && (
            <span className="inline-flex items-center gap-4 text-small text-danger">
              <MicOff size={16} strokeWidth={1.75} aria-hidden="true" />
              {t('voice.isMuted')}
            </span>
          )}
        </p>
        {word === 'off' ? (
          <Button disabled={turningOn} onClick={voice.turnOn} onPointerEnter={voice.preload}>
            {t('voice.turnOn')}
          </Button>
        ) : (
          view !== null && (
            <Suspense fallback={null}>
              <Beside view={view} word={word} />
            </Suspense>
          )
        )}
      </div>
      <Suspense fallback={null}>
        <Below view={view} word={word} />
      </Suspense>
    </section>
  );
}

/** The word is text; only what is wrong or live has a colour of its own. */
const wordTone = (word: VoiceWord) =>
  word === 'off' ? 'text-text-2' : word === 'ready' || word === 'opening' || word === 'thinking' ? 'text-text' : voiceTone[word];
