import { CircleAlert, Info, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import type { VoiceWord } from '../../../shared/domain/voice.ts';
import type { VoiceView } from '../../../shared/domain/voiceView.ts';
import { Button } from '../../components/Button.tsx';
import { CopyButton } from '../../components/CopyButton.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { type ErrorAction, errorWords } from '../../lib/errorTexts.ts';
import { number } from '../../lib/format.ts';
import { useServices } from '../../lib/services.tsx';
import { type Texts, useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import { devicesOpen } from './Devices.tsx';

type Said = { readonly code: string; readonly data: Readonly<Record<string, unknown>> };

/** Faults that a model on this machine would mend: they get a card with the way to it. */
const missing: readonly string[] = ['ASR_UNAVAILABLE', 'TTS_UNAVAILABLE', 'VAD_UNAVAILABLE'];

/** Trouble: its cause and the one button, beside the word (UX-175). Of missing models the card below tells. */
export function Trouble({ view }: { view: VoiceView }) {
  const { voice } = useServices();
  const error = useStore(voice.state, (s) => s.error);
  const run = useRuns();
  const fault: Said | null = view.fault ?? error;
  if (fault === null || missing.includes(fault.code)) return null;
  return (
    <div className="min-w-0 flex-1 basis-list">
      <Line said={fault} loud plain run={run} />
    </div>
  );
}

/** What went wrong or changed by itself: text with one button (UX-06). A fault counts before a notice. */
export function Notices({ view, word }: { view: VoiceView | null; word: VoiceWord }) {
  const t = useTexts();
  const { voice } = useServices();
  const error = useStore(voice.state, (s) => s.error);
  const outputLost = useStore(voice.state, (s) => s.outputLost);
  const [dismissed, setDismissed] = useState(0);
  const notice = view?.notice ?? null;
  const run = useRuns(() => setDismissed(notice?.id ?? 0));
  // A new utterance is an answer to it.
  const fresh = notice !== null && notice.id !== dismissed && word !== 'listening' ? notice : null;
  useEffect(() => () => devicesOpen.setState({ open: false }), []);

  const fault: Said | null = word === 'trouble' ? (view?.fault ?? error) : error;
  if (fault !== null && missing.includes(fault.code))
    return (
      <div className="pb-4">
        <ErrorCard loud error={asError(fault)} run={run} />
      </div>
    );
  if (word === 'trouble') return null;
  // "Turn voice on" stands in the line above already.
  if (fault !== null) return <Line said={fault} loud bare={word === 'off' && errorWords(asError(fault)).action === 'turnOn'} run={run} />;
  if (fresh !== null) {
    const words = fresh.code === 'NOTHING_HEARD' ? nothingHeard(t, fresh.data) : undefined;
    return <Line said={fresh} run={run} words={words} onDismiss={() => setDismissed(fresh.id)} />;
  }
  if (outputLost !== null && word !== 'off') return <Line said={outputLost} run={run} />;
  return null;
}

const asError = ({ code, data }: Said) => ({ code, data: { ...data } });

/** "I heard nothing", with device and level (UX-45). */
function nothingHeard(t: Texts, data: Said['data']): string {
  const device = typeof data['device'] === 'string' && data['device'] !== '' ? data['device'] : t('voice.theMicrophone');
  const level = data['level'];
  if (typeof level !== 'number') return t('voice.nothingHeardDevice', { device });
  return t('voice.nothingHeard', { device, level: t('voice.level', { db: number(Math.round(level)).replace('-', '−') }) });
}

function useRuns(onDismiss: () => void = () => {}): Partial<Record<ErrorAction, () => void>> {
  const { voice, connection } = useServices();
  return {
    retry: voice.turnOn,
    again: voice.turnOn,
    wait: voice.turnOn,
    turnOn: voice.turnOn,
    restart: () => connection.retry(),
    unmute: () => voice.setMuted(false),
    otherMicrophone: () => devicesOpen.setState({ open: true }),
    openModels: () => useUi.getState().go('models'),
    get: () => useUi.getState().go('models'),
    reload: () => location.reload(),
    dismiss() {
      voice.dismiss();
      onDismiss();
    },
  };
}

/** One line: what happened, what to do, and the button for it. */
function Line(props: {
  said: Said;
  run: Partial<Record<ErrorAction, () => void>>;
  words?: string | undefined;
  loud?: boolean;
  /** The sign of the state stands before it already. */
  plain?: boolean;
  /** Its button stands elsewhere. */
  bare?: boolean;
  onDismiss?: () => void;
}): ReactNode {
  const t = useTexts();
  const { key, values, action } = errorWords(asError(props.said));
  const own = props.run[action];
  const what = props.words ?? t(`errors.${key}.what`, values);
  const Sign = props.loud ? CircleAlert : Info;
  return (
    <div
      role={props.loud ? 'alert' : 'group'}
      aria-label={what}
      className={`flex flex-wrap items-center gap-x-12 gap-y-4 text-ui ${props.plain ? '' : 'pb-4'}`}
    >
      <p className="flex min-w-0 flex-1 basis-list items-start gap-8">
        {!props.plain && (
          <Sign
            size={16}
            strokeWidth={1.75}
            aria-hidden="true"
            className={`mt-px shrink-0 ${props.loud ? 'text-danger' : 'text-text-3'}`}
          />
        )}
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <span className="text-text">{what}</span> <span className="text-text-2">{t(`errors.${key}.do`, values)}</span>
        </span>
      </p>
      {props.bare ? null : own !== undefined ? (
        <Button onClick={own}>{t(`actions.${action}`)}</Button>
      ) : (
        <CopyButton words name={t('actions.copyDetails')} text={() => JSON.stringify({ ...asError(props.said) }, null, 2)} />
      )}
      {props.onDismiss !== undefined && action !== 'dismiss' && (
        <IconButton icon={X} name={t('voice.dismiss')} className="-mx-8" onClick={props.onDismiss} />
      )}
    </div>
  );
}
