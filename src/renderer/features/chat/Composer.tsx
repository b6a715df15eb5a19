import { ArrowUp, Square } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import type { SessionId } from '../../../shared/domain/ids.ts';
import { limits } from '../../../shared/domain/limits.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { Hint } from '../../components/IconButton.tsx';
import { bytes, number } from '../../lib/format.ts';
import { type Sent, sendMessage } from '../../lib/sending.ts';
import { useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import type { DraftField } from './draftField.ts';

type Props = {
  field: DraftField;
  /** The talk button. */
  talk: ReactNode;
  /** An answer of this chat is being said aloud. */
  speaking: boolean;
  sessionId: SessionId | null;
  running: boolean;
  stopping: boolean;
  canAnswer: boolean;
  onSent: (sent: Sent) => void;
  onStop: () => void;
  onNewChat: () => void;
};

/**
 * The message field. Its text is stored as a draft while it is typed, and leaves the field only when the runtime has stored it as a
 * message (UX-02).
 */
export function Composer(props: Props) {
  const t = useTexts();
  const services = useServices();
  const { drafts } = services;
  const settings = useLive('settings').value;
  const { field, sessionId } = props;
  const size = useStore(field.state);
  const [sending, setSending] = useState<{ waiting: boolean; abort: AbortController } | null>(null);
  const [fault, setFault] = useState<{ sessionId: SessionId | null; error: AppError } | null>(null);
  /** Someone wanted to send and could not; the reason is what is true now. */
  const [refused, setRefused] = useState(false);
  const error = fault !== null && fault.sessionId === sessionId ? fault.error : size.unreadable;

  useEffect(() => field.open(sessionId), [field, sessionId]);
  useEffect(() => {
    const leave = () => void drafts.flush();
    window.addEventListener('pagehide', leave);
    window.addEventListener('blur', leave);
    window.addEventListener('resize', field.fit);
    return () => {
      window.removeEventListener('pagehide', leave);
      window.removeEventListener('blur', leave);
      window.removeEventListener('resize', field.fit);
    };
  }, [drafts, field]);

  const send = () => {
    const text = field.text();
    if (sending !== null || size.tooLong || text.trim() === '') return;
    setFault(null);
    setRefused(props.running || !props.canAnswer);
    if (props.running || !props.canAnswer) return;
    const abort = new AbortController();
    setSending({ waiting: false, abort });
    sendMessage(services, { sessionId, text, onWaiting: () => setSending({ waiting: true, abort }) }, abort.signal).then(
      (sent) => {
        // Only now is it a message; the draft of this chat is empty again.
        field.sent();
        setSending(null);
        props.onSent(sent);
      },
      (thrown: unknown) => {
        setSending(null);
        const failed = toAppError(thrown);
        if (failed.code === 'TURN_ACTIVE') setRefused(true);
        else if (failed.code !== 'CANCELLED') setFault({ sessionId, error: failed });
      },
    );
  };

  const enterSends = settings?.sendKey !== 'ctrlEnter';
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // While an input method composes, Enter belongs to it.
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    const modifier = event.ctrlKey || event.metaKey;
    if (enterSends ? event.shiftKey : !modifier) return;
    event.preventDefault();
    send();
  };

  return (
    <div className="mx-auto w-full max-w-thread">
      {error !== null && (
        <div className="mb-8">
          <ErrorCard
            loud
            error={error}
            run={{
              retry: send,
              resend: send,
              wait: send,
              newChat: props.onNewChat,
              shorten: field.focus,
              stopRunning: props.onStop,
              reload: () => location.reload(),
              dismiss: () => setFault(null),
            }}
          />
        </div>
      )}
      <div className="rounded-card border border-control bg-surface focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
        <textarea
          ref={field.attach}
          id="message"
          rows={1}
          aria-label={t('composer.label')}
          aria-describedby="composer-note"
          placeholder={t('composer.placeholder')}
          readOnly={sending !== null}
          spellCheck={false}
          onInput={field.changed}
          onBlur={() => void drafts.flush()}
          onKeyDown={onKeyDown}
          className="block max-h-[50vh] w-full resize-none overflow-y-auto bg-transparent px-16 pt-12 pb-4 text-body text-text outline-none"
        />
        <div className="flex items-center gap-12 pr-12 pb-12 pl-16">
          <p id="composer-note" className="min-w-0 flex-1 text-small text-text-3 tabular-nums" data-testid="composer-note">
            <Note
              {...props}
              size={size}
              enterSends={enterSends}
              refused={refused}
              sending={sending === null ? 'no' : sending.waiting ? 'waiting' : 'storing'}
            />
          </p>
          {sending?.waiting && (
            <Button look="quiet" onClick={() => sending.abort.abort()}>
              {t('composer.takeBack')}
            </Button>
          )}
          {props.talk}
          <SendOrStop
            {...props}
            enterSends={enterSends}
            empty={size.empty}
            maySend={!size.empty && !size.tooLong && sending === null}
            onSend={send}
          />
        </div>
      </div>
    </div>
  );
}

/** One button in one place: what sends is also what stops (UX-03). */
function SendOrStop(props: Props & { enterSends: boolean; empty: boolean; maySend: boolean; onSend: () => void }) {
  const t = useTexts();
  // What is only said aloud can be stopped too, unless something is there to be sent.
  const stop = props.running || (props.speaking && props.empty);
  return (
    <Hint text={stop ? t('composer.stopHint') : t('composer.sendHint', { keys: props.enterSends ? 'Enter' : 'Ctrl Enter' })}>
      <Button
        look="primary"
        disabled={stop ? props.running && props.stopping : !props.maySend || !props.canAnswer}
        onClick={stop ? props.onStop : props.onSend}
      >
        {stop ? (
          <Square size={16} strokeWidth={1.75} fill="currentColor" aria-hidden="true" />
        ) : (
          <ArrowUp size={16} strokeWidth={1.75} aria-hidden="true" />
        )}
        {stop ? (props.stopping ? t('composer.stopping') : t('composer.stop')) : t('composer.send')}
      </Button>
    </Hint>
  );
}

type NoteProps = {
  size: { characters: number; bytes: number; tooLong: boolean };
  sending: 'no' | 'storing' | 'waiting';
  running: boolean;
  canAnswer: boolean;
  refused: boolean;
  enterSends: boolean;
};

/** The one line under the text: what is most needed now. It never says "kept" or "stored" before it is so. */
function Note(props: NoteProps): ReactNode {
  const t = useTexts();
  const draft = useStore(useServices().drafts.state, (s) => s.draft);
  const { size } = props;
  if (size.tooLong) {
    return <span className="text-danger">{t('composer.tooLong', { size: number(size.bytes), max: number(limits.maxInputBytes) })}</span>;
  }
  if (props.sending === 'waiting') return <span className="text-warn">{t('composer.waitingLink')}</span>;
  if (props.sending === 'storing') return t('composer.storing');
  if (props.refused && props.running) return <span className="text-text-2">{t('composer.running')}</span>;
  if (props.refused && !props.canAnswer) return <span className="text-text-2">{t('composer.noModel')}</span>;
  if (draft === 'notKept') return <span className="text-warn">{t('composer.draftNotKept')}</span>;
  if (draft === 'tooLong') return <span className="text-warn">{t('composer.draftTooLong')}</span>;
  if (size.characters > 0) return t('composer.long', { characters: number(size.characters), size: bytes(size.bytes) });
  return props.enterSends ? t('composer.enterSends') : t('composer.ctrlEnterSends');
}
