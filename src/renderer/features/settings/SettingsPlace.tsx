import { RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Settings } from '../../../shared/contract/settings.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { version } from '../../../shared/version.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { Kbd } from '../../components/Kbd.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import { Switch } from '../../components/Switch.tsx';
import { useLive, useServices } from '../../lib/services.tsx';
import { talkChord } from '../../lib/talkKey.ts';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';

const defaults = Settings.parse({});

/** How Sotto behaves. Each row acts at once, shows its default and takes it back (UX-73). */
export function SettingsPlace() {
  const t = useTexts();
  const { api } = useServices();
  const { value, error: readError } = useLive('settings');
  const [error, setError] = useState<AppError | null>(null);
  const set = (change: Partial<Settings>) => {
    setError(null);
    api.settings.set(change).catch((thrown: unknown) => setError(toAppError(thrown)));
  };
  return (
    <main id="content" data-region="content" tabIndex={-1} className="min-h-0 min-w-0 flex-1 overflow-y-auto px-16 pb-48 wide:px-24">
      <div className="max-w-thread">
        <h1 className="pt-24 text-title">{t('settings.title')}</h1>
        {error !== null && (
          <div className="mt-16">
            <ErrorCard error={error} run={{ retry: () => setError(null) }} />
          </div>
        )}
        {value === null ? (
          readError === null ? (
            <StillRows label={t('settings.loading')} count={4} />
          ) : (
            <div className="mt-16">
              <ErrorCard error={readError} />
            </div>
          )
        ) : (
          <>
            <Group title={t('settings.privacy')}>
              {(['lookForUpdates', 'searchHub', 'lookForModels'] as const).map((name) => (
                <Switch
                  key={name}
                  id={name}
                  title={t(`privacy.${name}.title`)}
                  about={t(`privacy.${name}.about`)}
                  on={value[name]}
                  words={{ on: t('privacy.on'), off: t('privacy.off') }}
                  onChange={(on) => set({ [name]: on })}
                />
              ))}
            </Group>
            <Group title={t('settings.firstSteps')}>
              <div className="flex flex-wrap items-center justify-between gap-x-24 gap-y-8 border-b border-line py-12">
                <p className="text-small text-text-2">{t('onboarding.againAbout')}</p>
                <Button onClick={() => set({ firstRun: 'privacy' })}>{t('onboarding.again')}</Button>
              </div>
            </Group>
            <Group title={t('settings.look')}>
              <Choice
                id="theme"
                title={t('settings.theme')}
                about={t('settings.themeAbout')}
                value={value.theme}
                initial={defaults.theme}
                options={Settings.shape.theme.unwrap().options.map((id) => ({ id, name: t(`settings.themes.${id}`) }))}
                onChange={(theme) => set({ theme })}
              />
            </Group>
            <Group title={t('settings.keys')}>
              <Choice
                id="sendKey"
                title={t('settings.sendKey')}
                about={t('settings.sendKeyAbout')}
                value={value.sendKey}
                initial={defaults.sendKey}
                options={Settings.shape.sendKey.unwrap().options.map((id) => ({ id, name: t(`settings.sendKeys.${id}`) }))}
                onChange={(sendKey) => set({ sendKey })}
              />
              <Shortcuts />
            </Group>
            <Group title={t('voices.settingsTitle')}>
              <div className="flex flex-wrap items-center justify-between gap-x-24 gap-y-8 border-b border-line py-12">
                <p className="text-small text-text-2">{t('voices.settingsAbout')}</p>
                <Button onClick={() => useUi.getState().set({ voicePicker: true })}>{t('voices.open')}</Button>
              </div>
              <Switch
                id="tones"
                title={t('voice.settings.tones')}
                about={t('voice.settings.tonesAbout')}
                on={value.tones}
                words={{ on: t('privacy.on'), off: t('privacy.off') }}
                onChange={(tones) => set({ tones })}
              />
              <div className="border-b border-line py-12">
                <p className="text-ui font-medium">{t('voice.settings.key')}</p>
                <p className="mt-4 text-small text-text-2">
                  {t('onboarding.key.form')}: {talkChord()}. {t('onboarding.key.formWhy')}
                </p>
              </div>
            </Group>
            <Group title={t('settings.reading')}>
              <Choice
                id="announce"
                title={t('settings.announce')}
                about={t('settings.announceAbout')}
                value={value.announce}
                initial={defaults.announce}
                options={Settings.shape.announce.unwrap().options.map((id) => ({ id, name: t(`settings.announces.${id}`) }))}
                onChange={(announce) => set({ announce })}
              />
            </Group>
            <Group title={t('settings.about')}>
              {(['sotto', 'pronunciation', 'models'] as const).map((part) => (
                <p key={part} className="border-b border-line py-12 text-small text-text-2">
                  {t(`settings.licences.${part}`, { version })}
                </p>
              ))}
            </Group>
          </>
        )}
      </div>
    </main>
  );
}

function Group(props: { title: string; children: ReactNode }) {
  return (
    <section className="mt-32">
      <h2 className="text-heading">{props.title}</h2>
      <div className="mt-8 border-t border-line">{props.children}</div>
    </section>
  );
}

function Choice<T extends string>(props: {
  id: string;
  title: string;
  about: string;
  value: T;
  initial: T;
  options: readonly { readonly id: T; readonly name: string }[];
  onChange: (value: T) => void;
}) {
  const t = useTexts();
  const initialName = props.options.find((o) => o.id === props.initial)?.name ?? '?';
  return (
    <fieldset className="flex flex-wrap items-start gap-x-24 gap-y-8 border-b border-line py-12">
      <legend className="sr-only">{props.title}</legend>
      <div className="min-w-rail flex-1" aria-hidden="true">
        <p className="text-ui font-medium">{props.title}</p>
        <p className="mt-4 text-small text-text-2">{props.about}</p>
      </div>
      <div className="flex items-center gap-8">
        <div className="flex flex-wrap gap-4">
          {props.options.map((option) => (
            <label
              key={option.id}
              data-chosen={option.id === props.value || undefined}
              className={`move-press flex h-control items-center rounded-field border px-12 text-ui has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${
                option.id === props.value
                  ? 'border-accent bg-accent-soft font-medium text-text'
                  : 'border-control text-text-2 hover:bg-hover'
              }`}
            >
              <input
                type="radio"
                name={props.id}
                value={option.id}
                checked={option.id === props.value}
                onChange={() => props.onChange(option.id)}
                className="sr-only"
              />
              {option.name}
            </label>
          ))}
        </div>
        <IconButton
          icon={RotateCcw}
          name={t('settings.reset', { value: initialName })}
          disabled={props.value === props.initial}
          onClick={() => props.onChange(props.initial)}
        />
      </div>
      <p className="basis-full text-micro text-text-3">{t('settings.default', { value: initialName })}</p>
    </fieldset>
  );
}

const shortcuts = [
  ['talk', [talkChord()]],
  ['newChat', ['Ctrl N']],
  ['stop', ['Esc']],
  ['find', ['Ctrl Shift F']],
  ['list', ['Ctrl B']],
  ['chat', ['Ctrl 1']],
  ['models', ['Ctrl 5']],
  ['settings', ['Ctrl ,']],
  ['regions', ['F6', 'Shift F6']],
  ['messages', ['Alt ↑', 'Alt ↓']],
  ['menu', ['Shift F10']],
  ['rename', ['F2']],
  ['remove', ['Delete']],
] as const;

function Shortcuts() {
  const t = useTexts();
  return (
    <section className="py-12" aria-label={t('settings.keysTitle')}>
      <h3 className="text-ui font-medium">{t('settings.keysTitle')}</h3>
      <dl className="mt-8 text-ui">
        {shortcuts.map(([name, keys]) => (
          <div key={name} className="flex h-table items-center justify-between gap-16">
            <dt className="text-text-2">{t(`settings.shortcuts.${name}`)}</dt>
            <dd className="flex gap-4">
              {keys.map((key) => (
                <Kbd key={key} keys={key} />
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
