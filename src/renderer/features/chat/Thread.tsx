import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import type { MirrorState } from '../../lib/sessionMirror.ts';
import { useTexts } from '../../lib/texts.ts';
import { type ExchangeDeeds, ExchangeView } from './Exchange.tsx';
import { type Exchange, exchangesOf } from './exchanges.ts';

/** Threads of more than a hundred messages are drawn in part (style page, section 4); an exchange is two of them. */
const virtualFrom = 50;
/** Nearer to the end than this counts as "at the end": a line of text. */
const atEndPx = 48;

export function Thread(props: {
  state: MirrorState | null;
  stopping: boolean;
  mayAsk: boolean;
  loadingOlder: boolean;
  deeds: ExchangeDeeds;
  onOlder: () => void;
  /** Sequence of a message to show and focus, once it is loaded. */
  target: number | null;
  onTarget: () => void;
  /** What stands in an empty chat, and below the last exchange. */
  empty: ReactNode;
  foot: ReactNode;
}) {
  const t = useTexts();
  const { state } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  /** Where the view was when it was last looked at. */
  const lastTop = useRef(0);
  const [below, setBelow] = useState(false);
  const messages = state?.messages;
  const turns = state?.turns;
  // A growing answer changes neither, so the other exchanges keep their identity and are not drawn again.
  const exchanges = useMemo(
    () => (messages === undefined || turns === undefined ? [] : exchangesOf({ messages, turns })),
    [messages, turns],
  );
  const growing = state?.growing ?? null;
  const virtual = exchanges.length > virtualFrom;

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box === null) return;
    following.current = true;
    setBelow(false);
    box.scrollTop = box.scrollHeight;
    lastTop.current = box.scrollTop;
  }, []);

  /** Goes on to the end, unless a person has just moved up and the scroll event has not come yet. */
  const follow = useCallback(() => {
    const box = scroller.current;
    if (box === null || !following.current) return;
    const left = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (box.scrollTop < lastTop.current - 1 && left > atEndPx) following.current = false;
    else toEnd();
  }, [toEnd]);

  const onScroll = () => {
    const box = scroller.current;
    if (box === null) return;
    lastTop.current = box.scrollTop;
    following.current = box.scrollHeight - box.scrollTop - box.clientHeight <= atEndPx;
    if (following.current) setBelow(false);
  };

  // New text: the view follows only if it was at the end, else a pill says so (UX-28).
  const newest = `${exchanges.length}:${exchanges.at(-1)?.answers.length ?? 0}:${growing?.text.length ?? 0}`;
  const before = useRef(newest);
  useLayoutEffect(() => {
    if (before.current === newest) return;
    before.current = newest;
    follow();
    if (!following.current) setBelow(true);
  }, [newest, follow]);

  // Text that grows without new words (a picture's place, colours, a larger font) must not push the end out of sight.
  useEffect(() => {
    if (content.current === null || typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver(follow);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [follow]);

  // Older messages come in front: what was read stays where it was.
  const firstTurn = exchanges[0]?.turnId ?? null;
  const anchor = useRef<{ turn: string | null; fromEnd: number }>({ turn: null, fromEnd: 0 });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (anchor.current.turn !== null && anchor.current.turn !== firstTurn && !following.current)
      box.scrollTop = box.scrollHeight - anchor.current.fromEnd;
    anchor.current = { turn: firstTurn, fromEnd: box.scrollHeight - box.scrollTop };
  }, [firstTurn]);
  const rememberPlace = () => {
    const box = scroller.current;
    if (box !== null) anchor.current.fromEnd = box.scrollHeight - box.scrollTop;
  };

  const { target, onTarget, onOlder } = props;
  const oldest = state?.messages[0]?.sequence ?? null;
  const olderCursor = state?.olderCursor ?? null;
  const targetRow = target === null ? -1 : exchanges.findIndex((e) => holds(e, target));
  const scrollToRow = useRef<(row: number) => void>(() => {});
  useEffect(() => {
    if (target === null || oldest === null) return;
    if (targetRow === -1) {
      if (olderCursor === null) onTarget();
      else if (!props.loadingOlder) onOlder();
      return;
    }
    following.current = false;
    scrollToRow.current(targetRow);
    const message = scroller.current?.querySelector<HTMLElement>(`[data-message="${target}"]`);
    if (message == null) return;
    message.scrollIntoView({ block: 'center' });
    message.focus({ preventScroll: true });
    onTarget();
  });

  // Alt with up or down goes from message to message, from the composer to the last one (UX-98).
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    stepMessage(scroller.current, event.key === 'ArrowUp' ? -1 : 1);
  };

  const view = (exchange: Exchange) => (
    <ExchangeView
      exchange={exchange}
      growing={growing?.turnId === exchange.turnId ? growing : null}
      stopping={props.stopping}
      mayAsk={props.mayAsk}
      deeds={props.deeds}
    />
  );

  return (
    <div className="relative min-h-0 flex-1">
      {/* The whole thread is a region of its own; it scrolls, so it takes the focus (UX-126). */}
      <div
        ref={scroller}
        onScroll={() => {
          onScroll();
          rememberPlace();
        }}
        onKeyDown={onKeyDown}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('thread.log')}
        data-region="thread"
        className="h-full overflow-y-auto px-16 outline-offset-[-2px] wide:px-24"
      >
        <div ref={content} className="mx-auto max-w-thread pt-24">
          {state === null && <StillRows label={t('thread.loading')} count={3} />}
          {olderCursor !== null && (
            <div className="mb-16 flex justify-center">
              <Button look="quiet" disabled={props.loadingOlder} onClick={onOlder}>
                {props.loadingOlder ? t('thread.olderLoading') : t('thread.older')}
              </Button>
            </div>
          )}
          {state !== null && exchanges.length === 0 && props.empty}
          {virtual ? (
            <VirtualRows exchanges={exchanges} scroller={scroller} view={view} scrollToRow={scrollToRow} />
          ) : (
            exchanges.map((exchange) => <div key={exchange.turnId}>{view(exchange)}</div>)
          )}
          {props.foot}
        </div>
      </div>
      {below && (
        <div className="pointer-events-none absolute inset-x-0 bottom-8 flex justify-center">
          <button
            type="button"
            onClick={toEnd}
            className="move-press pointer-events-auto inline-flex h-control items-center gap-8 rounded-full border border-line bg-raised px-16 text-ui text-text shadow-menu hover:bg-hover"
          >
            <ArrowDown size={16} strokeWidth={1.75} aria-hidden="true" />
            {t('thread.newBelow')}
          </button>
        </div>
      )}
    </div>
  );
}

function VirtualRows(props: {
  exchanges: readonly Exchange[];
  scroller: { readonly current: HTMLDivElement | null };
  view: (exchange: Exchange) => ReactNode;
  scrollToRow: { current: (row: number) => void };
}) {
  const { exchanges, scroller } = props;
  const [focused, setFocused] = useState<number | null>(null);
  const rows = useVirtualizer({
    count: exchanges.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 240,
    getItemKey: (i) => exchanges[i]?.turnId ?? i,
    overscan: 6,
    // The row that holds the focus stays on the page wherever the view goes: a focus that vanishes throws a reader to the top.
    rangeExtractor: (range) => {
      const from = Math.max(0, range.startIndex - range.overscan);
      const to = Math.min(range.count - 1, range.endIndex + range.overscan);
      const shown = Array.from({ length: to - from + 1 }, (_, i) => from + i);
      if (focused === null || focused >= range.count || (focused >= from && focused <= to)) return shown;
      return focused < from ? [focused, ...shown] : [...shown, focused];
    },
    initialRect: { width: 720, height: 800 },
    initialOffset: () => exchanges.length * 240,
  });
  props.scrollToRow.current = (row) => rows.scrollToIndex(row, { align: 'center' });
  return (
    <div className="relative" style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map((row) => {
        const exchange = exchanges[row.index];
        return (
          exchange !== undefined && (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              onFocus={() => setFocused(row.index)}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {props.view(exchange)}
            </div>
          )
        );
      })}
    </div>
  );
}

function holds(exchange: Exchange, sequence: number): boolean {
  return (
    exchange.input?.sequence === sequence ||
    exchange.answers.some((a) => a.sequence === sequence) ||
    exchange.earlier.some((e) => holds(e, sequence))
  );
}

/** Moves the focus to the message before or after the focused one; without one, to the last or first on the screen. */
export function stepMessage(root: ParentNode | null, step: -1 | 1): void {
  const messages = [...(root?.querySelectorAll<HTMLElement>('[data-message]') ?? [])];
  const at = messages.findIndex((m) => m.contains(document.activeElement));
  const next = at === -1 ? (step === -1 ? messages.at(-1) : messages[0]) : messages[at + step];
  if (next === undefined) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}
