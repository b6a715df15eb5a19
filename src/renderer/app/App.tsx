import { Tooltip } from 'radix-ui';
import { lazy, Suspense, useEffect } from 'react';
import { TalkButton } from '../components/TalkButton.tsx';
import { ChatPlace } from '../features/chat/index.ts';
import { SettingsPlace } from '../features/settings/index.ts';
import { VoiceBar } from '../features/voice/index.ts';
import { useAnnouncer } from '../lib/announcer.ts';
import { useConnection, useLive } from '../lib/services.tsx';
import { useTexts } from '../lib/texts.ts';
import { useTheme } from '../lib/theme.ts';
import { useUi } from '../lib/ui.ts';
import { useLayout } from '../lib/useMedia.ts';
import { useFirstRun } from './firstRun.ts';
import { useKeys } from './keys.ts';
import { LinkNotice } from './LinkNotice.tsx';
import { Rail } from './Rail.tsx';
import { RuntimeFailed } from './RuntimeFailed.tsx';
import { Strip } from './Strip.tsx';
import { useTalkKeys } from './talkKeys.ts';

// What is not seen first comes when it is asked for: the start must not wait for it (P31).
const loadFirstRun = () => import('../features/onboarding/index.ts');
const Onboarding = lazy(() => loadFirstRun().then((module) => ({ default: module.Onboarding })));
const ModelsPlace = lazy(() => import('../features/models/index.ts').then((module) => ({ default: module.ModelsPlace })));
const VoicePicker = lazy(() => import('../features/voices/index.ts').then((module) => ({ default: module.VoicePicker })));

/** The one frame of all places (UX-154): rail, place, strip. */
export function App() {
  const t = useTexts();
  const layout = useLayout();
  const connection = useConnection();
  const { value: settings, error: unreadable } = useLive('settings');
  const firstRun = useFirstRun(settings, unreadable !== null || connection.kind === 'lost' || connection.kind === 'signedOut');
  const place = useUi((s) => s.place);
  const picking = useUi((s) => s.voicePicker);
  useTheme(settings?.theme);
  useKeys();
  useTalkKeys();
  const target = firstRun.show === 'places' && place === 'chat' ? 'message' : 'content';

  const undecided = firstRun.show === 'nothing';
  useEffect(() => {
    // While the settings are read: a failed load is tried again, and told, when the steps are shown.
    if (undecided) loadFirstRun().catch(() => undefined);
  }, [undecided]);

  // A list that lies over the page starts closed; beside the page it starts open.
  useEffect(() => useUi.getState().set({ listOpen: layout === 'wide' }), [layout]);

  return (
    <Tooltip.Provider delayDuration={600}>
      <a
        href={`#${target}`}
        onClick={(event) => {
          event.preventDefault();
          document.getElementById(target)?.focus();
        }}
        className="sr-only focus:not-sr-only focus:fixed focus:top-8 focus:left-8 focus:z-30 focus:rounded-field focus:bg-raised focus:px-16 focus:py-8 focus:text-ui focus:shadow-menu"
      >
        {target === 'message' ? t('app.skip') : t('app.skipToContent')}
      </a>
      <div className="flex h-full flex-col">
        <LinkNotice />
        {connection.kind === 'failed' ? (
          <RuntimeFailed error={connection.error} />
        ) : firstRun.show === 'nothing' ? null : firstRun.show === 'steps' && settings !== null ? (
          <Suspense fallback={null}>
            <Onboarding settings={settings} onDone={firstRun.leave} />
          </Suspense>
        ) : (
          <>
            <div className={`flex min-h-0 flex-1 ${layout === 'one' ? 'flex-col' : ''}`}>
              <Rail layout={layout} />
              <Suspense fallback={<main className="flex-1" />}>
                {place === 'chat' ? (
                  <ChatPlace voiceBar={<VoiceBar />} talk={<TalkButton />} />
                ) : place === 'models' ? (
                  <ModelsPlace />
                ) : (
                  <SettingsPlace />
                )}
              </Suspense>
            </div>
            <Strip />
            <Suspense fallback={null}>{picking && <VoicePicker />}</Suspense>
          </>
        )}
      </div>
      <Announcer />
    </Tooltip.Provider>
  );
}

function Announcer() {
  const text = useAnnouncer((s) => s.text);
  return (
    <div role="status" aria-live="polite" data-testid="announcer" className="sr-only">
      {text}
    </div>
  );
}
