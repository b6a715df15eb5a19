import { ArrowUp, Square } from 'lucide-react';
import { type KeyboardEvent, type Ref, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import type { SessionId } from '../../../shared/domain/ids.ts';
import { limits } from '../../../shared/domain/limits.ts';
import { type AppError, isAppError, toAppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { Hint } from '../../components/IconButton.tsx';
import { bytes, number } from '../../lib/format.ts';
import { isTooLong, type Sent, sendMessage, utf8Bytes } from '../../lib/sending.ts';
import { useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';

export type ComposerHandle = { focus(): void; put(text: string): void };

/** From this length on the text is measured and said; the field also takes its largest height at once instead of laying it out. */
const longCharacters = 20_000;

/**
 * The message field. It is not controlled by React: a 1 MB paste stays quick because nothing of it is drawn again per key. The text is
 * stored as a draft while it is typed, and leaves the field only when the runtime has stored it as a message (UX-02).
 */
export function Composer(props: {
  sessionId: SessionId | null;
  running: boolean;
  stopping: boolean;
  canAnswer: boolean;
  onSent: (sent: Sent) => void;
  onStop: () => void;
  onNewChat: () => void;
  ref: Ref<ComposerHandle>;
}) {
  const t = useTexts();
  const services = useServices();
  const { drafts } = services;
  const settings = useLive('settings').value;
  const draft = useStore(drafts.state, (s) => s.draft);
  const field = useRef<HTMLTextAreaElement>(null);
  const [size, setSize] = useState({ characters: 0, bytes: 0, empty: true, tooLong: false });
  const [sending, setSending] = useState<{ waiting: boolean; abort: AbortController } | null>(null);
  const [error, setError] = useState<AppError | null>(null);
  const [note, setNote] = useState<'running' | 'noModel' | null>(null);
  const { sessionId } = props;

  const measure = useCallback(() => {
    const area = field.current;
    if (area === null) return;
    const text = area.value;
    const long = text.length > longCharacters;
    const next = {
      characters: long ? text.length : 0,
      bytes: long ? utf8Bytes(text) : 0,
      empty: text.trim() === '',
      tooLong: long && isTooLong(text),
    };
    setSize((now) => (now.characters === next.characters && now.bytes === next.bytes && now.empty === next.empty ? now : next));
    grow(area, long);
  }, []);

  const put = useCallback(
    (text: string) => {
      const area = field.current;
      if (area === null) return;
      area.value = text;
      drafts.type(sessionId, text);
      setError(null);
      measure();
      area.focus();
    },
    [drafts, sessionId, measure],
  );
  useImperativeHandle(props.ref, () => ({ focus: () => field.current?.focus(), put }), [put]);

  // The draft of the chat that is opened; what is typed while it is read wins.
  useEffect(() => {
    const area = field.current;
    let wanted = true;
    setError(null);
    setNote(null);
    if (area !== null) area.value = '';
    measure();
    drafts.load(sessionId).then(
      (text) => {
        if (!wanted || area === null || area.value !== '') return;
        area.value = text;
        measure();
      },
      (thrown: unknown) => wanted && isAppError(thrown) && thrown.code !== 'SESSION_NOT_FOUND' && setError(thrown),
    );
    return () => {
      wanted = false;
      void drafts.flush();
    };
  }, [drafts, sessionId, measure]);

  useEffect(() => {
    const leave = () => void drafts.flush();
    window.addEventListener('pagehide', leave);
    window.addEventListener('blur', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      window.removeEventListener('blur', leave);
    };
  }, [drafts]);

  useLayoutEffect(() => {
    const again = () => measure();
    window.addEventListener('resize', again);
    return () => window.removeEventListener('resize', again);
  }, [measure]);

  useEffect(() => {
    if (!props.running) setNote((now) => (now === 'running' ? null : now));
  }, [props.running]);
  useEffect(() => {
    if (props.canAnswer) setNote((now) => (now === 'noModel' ? null : now));
  }, [props.canAnswer]);

  const send = () => {
    const area = field.current;
    if (area === null || sending !== null || size.tooLong || area.value.trim() === '') return;
    if (props.running) return setNote('running');
    if (!props.canAnswer) return setNote('noModel');
    const text = area.value;
    const abort = new AbortController();
    setError(null);
    setNote(null);
    setSending({ waiting: false, abort });
    sendMessage(services, { sessionId, text, onWaiting: () => setSending({ waiting: true, abort }) }, abort.signal).then(
      (sent) => {
        // Only now is it a message; the draft of this chat is empty again.
        drafts.forget();
        area.value = '';
        drafts.type(sessionId, '');
        void drafts.flush();
        setSending(null);
        measure();
        props.onSent(sent);
      },
      (thrown: unknown) => {
        setSending(null);
        const failed = toAppError(thrown);
        if (failed.code === 'TURN_ACTIVE') setNote('running');
        else if (failed.code !== 'CANCELLED') setError(failed);
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

  const stop = props.running;
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
              shorten: () => field.current?.focus(),
              stopRunning: props.onStop,
              reload: () => location.reload(),
              dismiss: () => setError(null),
            }}
          />
        </div>
      )}
      <div className="rounded-card border border-control bg-surface focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
        <textarea
          ref={field}
          id="message"
          rows={1}
          aria-label={t('composer.label')}
          aria-describedby="composer-note"
          placeholder={t('composer.placeholder')}
          readOnly={sending !== null}
          spellCheck={false}
          dir="auto"
          onInput={(event) => {
            drafts.type(sessionId, event.currentTarget.value);
            measure();
          }}
          onBlur={() => void drafts.flush()}
          onKeyDown={onKeyDown}
          className="block max-h-[50vh] w-full resize-none overflow-y-auto bg-transparent px-16 pt-12 pb-4 text-body text-text outline-none"
        />
        <div className="flex items-center gap-12 pr-12 pb-12 pl-16">
          <p id="composer-note" className="min-w-0 flex-1 text-small text-text-3 tabular-nums" data-testid="composer-note">
            {noteWords()}
          </p>
          {sending?.waiting && (
            <Button look="quiet" onClick={() => sending.abort.abort()}>
              {t('composer.takeBack')}
            </Button>
          )}
          <Hint text={stop ? t('composer.stopHint') : t('composer.sendHint', { keys: enterSends ? 'Enter' : 'Ctrl Enter' })}>
            {/* One button in one place: what sends is also what stops (UX-03). */}
            <Button
              look="primary"
              disabled={stop ? props.stopping : size.empty || size.tooLong || sending !== null || !props.canAnswer}
              onClick={stop ? props.onStop : send}
            >
              {stop ? (
                <Square size={16} strokeWidth={1.75} fill="currentColor" aria-hidden="true" />
              ) : (
                <ArrowUp size={16} strokeWidth={1.75} aria-hidden="true" />
              )}
              {stop ? (props.stopping ? t('composer.stopping') : t('composer.stop')) : t('composer.send')}
            </Button>
          </Hint>
        </div>
      </div>
    </div>
  );

  function noteWords() {
    if (size.tooLong) {
      return <span className="text-danger">{t('composer.tooLong', { size: number(size.bytes), max: number(limits.maxInputBytes) })}</span>;
    }
    if (sending?.waiting) return <span className="text-warn">{t('composer.waitingLink')}</span>;
    if (sending !== null) return t('composer.storing');
    if (note === 'running') return <span className="text-text-2">{t('composer.running')}</span>;
    if (note === 'noModel') return <span className="text-text-2">{t('composer.noModel')}</span>;
    if (draft === 'notKept') return <span className="text-warn">{t('composer.draftNotKept')}</span>;
    if (draft === 'tooLong') return <span className="text-warn">{t('composer.draftTooLong')}</span>;
    if (size.characters > 0) return t('composer.long', { characters: number(size.characters), size: bytes(size.bytes) });
    return enterSends ? t('composer.enterSends') : t('composer.ctrlEnterSends');
  }
}

/** Grows with its text up to half of the window; `field-sizing` is not known to Chromium 114. */
function grow(area: HTMLTextAreaElement, long: boolean): void {
  area.style.height = 'auto';
  area.style.height = long ? '50vh' : `${area.scrollHeight}px`;
}
