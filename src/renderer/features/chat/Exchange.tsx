import { AudioLines, ChevronRight, Copy as CopyIcon, CornerUpLeft, Info, RefreshCw, Square } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import { useStore } from 'zustand';
import type { TranscriptMessage } from '../../../shared/domain/session.ts';
import { sayCharacters } from '../../../shared/domain/voice.ts';
import { Button } from '../../components/Button.tsx';
import { CopyButton, copyText } from '../../components/CopyButton.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { type MenuItem, MenuOfThing } from '../../components/Menu.tsx';
import { directionOf } from '../../lib/direction.ts';
import type { ErrorAction } from '../../lib/errorTexts.ts';
import { bytes, clockTime, duration } from '../../lib/format.ts';
import { isReadInPart } from '../../lib/reader.ts';
import { utf8Bytes } from '../../lib/sending.ts';
import { useServices } from '../../lib/services.tsx';
import type { Growing } from '../../lib/sessionMirror.ts';
import { isOpen } from '../../lib/sessionMirror.ts';
import { useTexts } from '../../lib/texts.ts';
import { Details, Where } from './Details.tsx';
import type { Exchange } from './exchanges.ts';
import { MessageText } from './MessageText.tsx';
import { StageLine } from './StageLine.tsx';

/** What a person can do with an exchange; made once per chat, so that a growing answer does not draw the others again. */
export type ExchangeDeeds = {
  readonly again: (exchange: Exchange) => void;
  readonly edit: (text: string) => void;
  readonly decide: (exchange: Exchange, choice: 'resume' | 'stop') => void;
  readonly errorRuns: (exchange: Exchange) => Partial<Record<ErrorAction, (() => void) | undefined>>;
};

type Props = {
  readonly exchange: Exchange;
  readonly growing: Growing | null;
  readonly stopping: boolean;
  /** No other answer runs, so this question may be asked again. */
  readonly mayAsk: boolean;
  readonly deeds: ExchangeDeeds;
};

/** One question and what came of it. */
export const ExchangeView = memo(function ExchangeView(props: Props) {
  const { exchange } = props;
  return (
    <div className="flex flex-col gap-16 pb-32">
      {exchange.input !== null && <Question message={exchange.input} deeds={props.deeds} />}
      {exchange.earlier.length > 0 && <Earlier tries={exchange.earlier} deeds={props.deeds} />}
      <Outcome {...props} />
    </div>
  );
});

/** Texts longer than this are shown folded: a 1 MB paste must not be laid out to read the answer below it. */
const foldedCharacters = 4000;

function Question({ message, deeds }: { message: TranscriptMessage; deeds: ExchangeDeeds }) {
  const t = useTexts();
  const [whole, setWhole] = useState(false);
  const long = message.text.length > foldedCharacters;
  const items: MenuItem[] = [
    { name: t('message.copy'), icon: CopyIcon, run: () => void copyText(message.text).catch(() => undefined) },
    { name: t('message.reuse'), icon: CornerUpLeft, run: () => deeds.edit(message.text) },
  ];
  return (
    <MenuOfThing items={items} label={t('message.menu')}>
      <article
        tabIndex={-1}
        data-message={message.sequence}
        aria-label={t('message.region', { who: t('thread.you'), time: clockTime(message.at) })}
        className="own-message ml-auto max-w-[85%] rounded-card border border-transparent bg-sunken px-16 py-8"
      >
        <header className="mb-4 flex items-baseline justify-between gap-16 text-micro text-text-3">
          <span className="text-text-2">{t('thread.you')}</span>
          <time dateTime={message.at} className="tabular-nums">
            {clockTime(message.at)}
          </time>
        </header>
        <p dir={directionOf(message.text)} className="text-body whitespace-pre-wrap [overflow-wrap:anywhere]">
          {long && !whole ? `${message.text.slice(0, foldedCharacters)}…` : message.text}
        </p>
        {long && (
          <Button look="quiet" className="mt-4 -ml-8" onClick={() => setWhole(!whole)}>
            {whole ? t('message.fold') : `${t('message.showAll')} (${bytes(utf8Bytes(message.text))})`}
          </Button>
        )}
      </article>
    </MenuOfThing>
  );
}

function Earlier({ tries, deeds }: { tries: readonly Exchange[]; deeds: ExchangeDeeds }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="move-press -ml-8 inline-flex h-target items-center gap-4 rounded-field px-8 text-small text-text-2 hover:bg-hover hover:text-text"
      >
        <ChevronRight size={16} strokeWidth={1.75} aria-hidden="true" className={open ? 'rotate-90' : ''} />
        {t('thread.earlier', { count: tries.length })}
      </button>
      {open && (
        <div className="mt-8 flex flex-col gap-16 border-l-2 border-line pl-16">
          {tries.map((exchange) => (
            <Outcome key={exchange.turnId} exchange={exchange} growing={null} stopping={false} mayAsk={false} deeds={deeds} />
          ))}
        </div>
      )}
    </div>
  );
}

function Outcome(props: Props) {
  const t = useTexts();
  const { exchange, growing, deeds } = props;
  const { turn } = exchange;
  const running = isOpen(turn ?? undefined) && turn?.waitingOn === null;
  const cutOff = turn?.waitingOn === 'needs_reconciliation';
  const nothing = exchange.answers.length === 0;
  return (
    <>
      {exchange.answers.map((message, i) => (
        <Answer
          key={message.id}
          message={message}
          exchange={exchange}
          last={i === exchange.answers.length - 1 && !running}
          mayAsk={props.mayAsk}
          deeds={deeds}
        />
      ))}
      {running && <GrowingAnswer growing={growing} stopping={props.stopping || turn?.status === 'cancelling'} />}
      {turn?.status === 'cancelled' && nothing && (
        <Line>
          {t('thread.noAnswer')}
          {props.mayAsk && (
            <Button look="quiet" onClick={() => deeds.again(exchange)}>
              {t('actions.again')}
            </Button>
          )}
        </Line>
      )}
      {cutOff && (
        <section role="group" aria-label={t('cut.title')} className="soft-warn rounded-card p-16">
          <p className="text-ui font-medium">{t('cut.title')}</p>
          <p className="mt-4 text-ui text-text-2">{t('cut.body')}</p>
          <div className="mt-12 flex gap-8">
            <Button onClick={() => deeds.decide(exchange, 'resume')}>{t('cut.resume')}</Button>
            <Button onClick={() => deeds.decide(exchange, 'stop')}>{t('cut.stop')}</Button>
          </div>
        </section>
      )}
      {turn?.status === 'failed' && turn.error !== null && (
        <ErrorCard error={{ code: turn.error.code, data: turn.error.details }} run={deeds.errorRuns(exchange)} />
      )}
    </>
  );
}

function GrowingAnswer({ growing, stopping }: { growing: Growing | null; stopping: boolean }) {
  const t = useTexts();
  const text = growing?.text ?? '';
  return (
    <article tabIndex={-1} data-message="growing" aria-busy="true" aria-label={t('thread.sotto')} className="min-w-0">
      {text === '' ? <StageLine growing={growing} stopping={stopping} /> : <MessageText text={text} growing />}
      {text !== '' && growing?.hole === true && <p className="mt-8 text-small text-text-2">{t('thread.hole')}</p>}
      {text !== '' && (
        <div className="mt-8">
          <Stall growing={growing} stopping={stopping} />
        </div>
      )}
    </article>
  );
}

/** While text flows nothing needs to be said; a stop or a stall does. */
function Stall({ growing, stopping }: { growing: Growing | null; stopping: boolean }) {
  const t = useTexts();
  if (stopping) return <p className="text-small text-text-2">{t('stage.stopping')}</p>;
  return growing === null ? null : <StageLine growing={growing} stopping={false} onlyStall />;
}

function Answer(props: { message: TranscriptMessage; exchange: Exchange; last: boolean; mayAsk: boolean; deeds: ExchangeDeeds }) {
  const t = useTexts();
  const { message, exchange } = props;
  const { turn } = exchange;
  const [details, setDetails] = useState(false);
  const again = props.mayAsk && props.last ? () => props.deeds.again(exchange) : null;
  const items: MenuItem[] = [
    { name: t('message.copy'), icon: CopyIcon, run: () => void copyText(message.text).catch(() => undefined) },
    ...(again === null ? [] : [{ name: t('message.again'), icon: RefreshCw, run: again }]),
    ...(turn === null || !props.last ? [] : [{ name: t('message.details'), icon: Info, run: () => setDetails(true) }]),
  ];
  const usage = turn?.usage ?? null;
  const toSoundMs = useSpokenTurnMs(exchange.turnId);
  return (
    <MenuOfThing items={items} label={t('message.menu')}>
      <article
        tabIndex={-1}
        data-message={message.sequence}
        aria-label={t('message.region', { who: t('thread.sotto'), time: clockTime(message.at) })}
        className="min-w-0"
      >
        {message.unreadable ? (
          <p className="text-body text-text-2">{t('thread.unreadable')}</p>
        ) : (
          <div dir="auto">
            <MessageText text={message.text} growing={false} heard={message.heard} />
          </div>
        )}
        {message.interrupted && turn?.status !== 'failed' && turn?.waitingOn == null && (
          <p className="mt-8 text-small text-text-2">{cutWords(t, turn?.status)}</p>
        )}
        {message.heard !== null && message.heard < message.text.length && (
          <p className="mt-8 text-small text-text-2">{t(message.heard === 0 ? 'voice.heard.none' : 'voice.heard.rest')}</p>
        )}
        {turn?.stopReason === 'max_output' && props.last && (
          <p className="mt-8 text-small text-text-2">{t('thread.interruptedBy.limit')}</p>
        )}
        {props.last && (
          <footer className={`mt-8 flex flex-wrap items-center gap-x-4 text-micro text-text-3 ${usage === null ? '-ml-4' : ''}`}>
            {usage !== null && (
              <span className="mr-8 inline-flex items-center gap-4 tabular-nums">
                {toSoundMs !== null ? (
                  <span>{t('voice.latency.lineOnly', { time: duration(toSoundMs) })} ·</span>
                ) : (
                  usage.firstTokenMs !== null && <span>{t('details.line', { first: duration(usage.firstTokenMs) })} ·</span>
                )}
                <Where where={usage.where} />
              </span>
            )}
            <CopyButton name={t('message.copy')} text={() => message.text} className="size-target" />
            {again !== null && <IconButton icon={RefreshCw} name={t('message.again')} className="size-target" onClick={again} />}
            {(toSoundMs !== null || message.heard !== null) && <ReadInFull message={message} />}
            {turn !== null && <Details turn={turn} open={details} onOpen={setDetails} />}
          </footer>
        )}
      </article>
    </MenuOfThing>
  );
}

/** Talk leaves out code, tables and long lists; one press reads all of it (UX-44). */
function ReadInFull({ message }: { message: TranscriptMessage }) {
  const t = useTexts();
  const { reader } = useServices();
  const reads = useStore(reader.reading, (id) => id === message.id);
  if (!isReadInPart(message.text) || message.text.length > sayCharacters) return null;
  return reads ? (
    <IconButton icon={Square} name={t('voice.stopReading')} className="size-target" onClick={reader.stop} />
  ) : (
    <IconButton
      icon={AudioLines}
      name={t('voice.readInFull')}
      className="size-target"
      onClick={() => reader.read(message.id, message.text)}
    />
  );
}

/** From the last word of a spoken question to the first sound of its answer; null for what was typed, or is not known. */
function useSpokenTurnMs(turnId: string): number | null {
  return useStore(useServices().latency.records, (records) => records.get(turnId)?.marks.firstAudioPlayed ?? null);
}

function cutWords(t: ReturnType<typeof useTexts>, status: string | undefined): string {
  return status === 'cancelled' ? t('thread.interruptedBy.cancelled') : t('thread.interruptedBy.crash');
}

function Line({ children }: { children: ReactNode }) {
  return <p className="flex flex-wrap items-center gap-8 text-small text-text-2">{children}</p>;
}
