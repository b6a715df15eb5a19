import { Check, ChevronDown, Mic } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { VoiceView } from '../../../shared/domain/voiceView.ts';
import { choices, type Device, type Devices as Found, watchDevices } from '../../audio/devices.ts';
import { Button } from '../../components/Button.tsx';
import { LevelMeter } from '../../components/LevelMeter.tsx';
import { useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import { useLevels } from '../../lib/useLevels.ts';

/** Opened from a notice too: "Choose another microphone". */
export const devicesOpen = createStore<{ open: boolean }>(() => ({ open: false }));

const nothing: Found = { inputs: [], outputs: [] };

/** The microphone by its name; a press shows its level and lets another one be taken at once (UX-46, VO-04). */
export function Devices({ view }: { view: VoiceView }) {
  const t = useTexts();
  const open = useStore(devicesOpen, (s) => s.open);
  const name = view.device;
  return (
    <Popover.Root open={open} onOpenChange={(next) => devicesOpen.setState({ open: next })}>
      <Popover.Trigger
        aria-label={name === '' ? t('voice.noDevice') : t('voice.device', { name })}
        className="move-press inline-flex h-control max-w-rail min-w-0 items-center gap-8 rounded-field px-8 text-ui text-text-2 hover:bg-hover hover:text-text"
      >
        <Mic size={16} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
        <span className="truncate">{name === '' ? t('voice.noDevice') : name}</span>
        <ChevronDown size={16} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          side="top"
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t('voice.devices')}
          className="move-menu z-20 max-h-[var(--radix-popover-content-available-height)] w-[min(22rem,calc(100vw-1rem))] overflow-y-auto rounded-card border border-line bg-raised p-16 shadow-menu"
        >
          <Choices view={view} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Choices({ view }: { view: VoiceView }) {
  const t = useTexts();
  const { api, voice } = useServices();
  const settings = useLive('settings').value;
  const { latest } = useLevels();
  const [found, setFound] = useState(nothing);
  useEffect(() => {
    const media = voice.media();
    return media === undefined ? undefined : watchDevices(media, setFound, () => undefined);
  }, [voice]);
  const set = (change: { microphone: string | null } | { loudspeaker: string | null }) => {
    api.settings.set(change).catch(voice.fail);
  };
  return (
    <>
      <LevelMeter device={view.device === '' ? t('voice.theMicrophone') : view.device} level={latest}>
        <span className="text-small text-text-2">{view.device}</span>
      </LevelMeter>
      <Group
        title={t('voice.inputs')}
        devices={choices(found.inputs)}
        none={t('voice.noInputs')}
        chosen={settings?.microphone ?? null}
        onChoose={(microphone) => set({ microphone })}
      />
      <Group
        title={t('voice.outputs')}
        devices={choices(found.outputs)}
        none={t('voice.noOutputs')}
        chosen={settings?.loudspeaker ?? null}
        onChoose={(loudspeaker) => set({ loudspeaker })}
      />
      <Button
        className="mt-16"
        onClick={() => {
          devicesOpen.setState({ open: false });
          useUi.getState().set({ voicePicker: true });
        }}
      >
        {t('voices.open')}
      </Button>
    </>
  );
}

function Group(props: {
  title: string;
  devices: readonly Device[];
  none: string;
  chosen: string | null;
  onChoose: (name: string | null) => void;
}) {
  const t = useTexts();
  const names = props.devices.map(({ name }) => name).filter((name) => name !== '');
  const unnamed = props.devices.length > 0 && names.length === 0;
  const rows: [string | null, string][] = [
    [null, t('voice.asSystem')],
    ...[...new Set(names)].map((name): [string, string] => [name, name]),
  ];
  return (
    <fieldset className="mt-16">
      <legend className="text-small font-medium text-text-2">{props.title}</legend>
      {rows.map(([value, name]) => (
        <label
          key={name}
          data-chosen={value === props.chosen || undefined}
          className="move-press mt-4 flex min-h-control items-center gap-8 rounded-field px-8 py-4 text-ui hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={props.title}
            className="sr-only"
            checked={value === props.chosen}
            onChange={() => props.onChoose(value)}
          />
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{name}</span>
          {value === props.chosen && <Check size={16} strokeWidth={1.75} aria-hidden="true" className="shrink-0 text-accent" />}
        </label>
      ))}
      {unnamed && <p className="mt-4 px-8 text-small text-text-3">{t('voice.noNames')}</p>}
      {!unnamed && names.length === 0 && <p className="mt-4 px-8 text-small text-text-3">{props.none}</p>}
    </fieldset>
  );
}
