import { Ellipsis, PanelLeft, Pencil, Trash2 } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { SessionId, TurnId } from '../../../shared/domain/ids.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { Drawer } from '../../components/Dialog.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { Menu } from '../../components/Menu.tsx';
import { retryTurn } from '../../lib/sending.ts';
import { useConnection, useLive, useServices, useSessionMirror } from '../../lib/services.tsx';
import { openTurn } from '../../lib/sessionMirror.ts';
import type { SessionView } from '../../lib/sessions.ts';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import { useLayout } from '../../lib/useMedia.ts';
import { ChatList } from './ChatList.tsx';
import { RenameField } from './ChatRow.tsx';
import { Composer } from './Composer.tsx';
import { Where } from './Details.tsx';
import { createDraftField } from './draftField.ts';
import type { ExchangeDeeds } from './Exchange.tsx';
import { preloadMarkdown } from './MessageText.tsx';
import { ModelCard } from './ModelCard.tsx';
import { Starters } from './Starters.tsx';
import { Thread } from './Thread.tsx';
import { useAnswerAnnouncements } from './useAnswerAnnouncements.ts';
import { useSpokenChat, useSpokenTurn } from './useSpokenChat.ts';

/** What the thread of a chat that does not exist yet shows. */
const nothing = createStore<SessionView>(() => ({
  state: { messages: [], turns: new Map(), sequence: 0, olderCursor: null, growing: null, stale: false },
  error: null,
  loadingOlder: false,
}));

/**
 * @param voiceBar  stands above the message field; @param talk  in its line. They are another feature's, so the page's frame puts them in.
 */
export function ChatPlace({ voiceBar, talk }: { voiceBar: ReactNode; talk: ReactNode }) {
  const t = useTexts();
  useEffect(preloadMarkdown, []);
  const ui = useUi();
  const layout = useLayout();
  const list = <ChatList onOpened={() => layout !== 'wide' && ui.set({ listOpen: false })} />;
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      {layout === 'wide' ? (
        ui.listOpen && (
          <section aria-label={t('chats.title')} data-region="list" className="flex w-list shrink-0 flex-col border-r border-line bg-page">
            {list}
          </section>
        )
      ) : (
        <Drawer open={ui.listOpen} onClose={() => ui.set({ listOpen: false })} title={t('chats.title')}>
          {list}
        </Drawer>
      )}
      <Conversation sessionId={ui.sessionId} voiceBar={voiceBar} talk={talk} />
    </div>
  );
}

function Conversation({ sessionId, voiceBar, talk }: { sessionId: SessionId | null; voiceBar: ReactNode; talk: ReactNode }) {
  const services = useServices();
  const { api, voice, reader } = services;
  const ui = useUi();
  const connection = useConnection();
  const language = useLive('language').value;
  const mirror = useSessionMirror(sessionId);
  const view = useStore(mirror?.view ?? nothing);
  const state = sessionId !== null && mirror === null ? null : view.state;
  const [field] = useState(() => createDraftField(services.drafts));
  const [stopping, setStopping] = useState<TurnId | null>(null);
  // A fault belongs to the chat where it happened.
  const [fault, setFault] = useState<{ sessionId: SessionId | null; error: AppError } | null>(null);
  const error = fault !== null && fault.sessionId === sessionId ? fault.error : null;
  const clear = useCallback(() => setFault(null), []);

  const turn = state === null ? null : openTurn(state);
  const running = turn !== null && turn.waitingOn === null;
  const mayAsk = turn === null && connection.kind === 'open';
  const canAnswer = language === null || language.state !== 'none';
  const spoken = useSpokenTurn(sessionId);
  useAnswerAnnouncements(state, spoken.turnId);
  useSpokenChat();

  const run = useCallback(
    (deed: () => Promise<unknown>) => {
      setFault(null);
      deed().catch((thrown: unknown) => {
        const failed = toAppError(thrown);
        // It had ended by itself: what was wished is so.
        if (failed.code !== 'NO_ACTIVE_TURN') setFault({ sessionId, error: failed });
      });
    },
    [sessionId],
  );

  const isStopping = stopping !== null && turn?.id === stopping;
  const runningId = running ? turn.id : null;
  const isSpoken = runningId !== null && spoken.turnId === runningId;
  const stop = useCallback(() => {
    // A spoken turn ends with its sound: one Stop for both (UX-03).
    if (voice.isBusy() && (runningId === null || isSpoken)) return voice.cancel();
    if (sessionId === null || runningId === null) return;
    setStopping(runningId);
    run(() =>
      api.turns.cancel({ sessionId, turnId: runningId }).catch((thrown: unknown) => {
        setStopping(null);
        throw thrown;
      }),
    );
  }, [api, voice, run, sessionId, runningId, isSpoken]);

  // Esc stops what runs, unless something lies on top of it (UX-81).
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // What voice has to end is ended by its own keys.
      if (event.key === 'Escape' && !event.defaultPrevented && !voice.isBusy() && reader.reading.getState() === null) stop();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [stop, voice, reader]);

  const deeds = useMemo<ExchangeDeeds>(() => {
    const edit = (text: string) => field.put(text);
    const again: ExchangeDeeds['again'] = ({ turnId }) => {
      if (sessionId !== null) run(() => retryTurn(services, { sessionId, turnId }));
    };
    return {
      again,
      edit,
      decide: ({ turnId }, choice) => {
        if (sessionId !== null) run(() => api.turns.decide({ sessionId, turnId, choice }));
      },
      errorRuns: (exchange) => ({
        again: () => again(exchange),
        retry: () => again(exchange),
        wait: () => again(exchange),
        shorten: () => edit(exchange.input?.text ?? ''),
        newChat: () => useUi.getState().openChat(null),
        restart: () => services.connection.retry(),
        reload: () => location.reload(),
        get: () => document.getElementById('get-model')?.scrollIntoView({ block: 'center' }),
        enable: () => {
          const modelId = services.live.language.getState().value?.modelId;
          if (modelId != null) run(() => api.models.enableLanguage({ modelId }).then(() => again(exchange)));
        },
      }),
    };
  }, [api, field, run, services, sessionId]);

  const target = ui.target !== null && ui.target.sessionId === sessionId ? ui.target.sequence : null;
  const onTarget = useCallback(() => useUi.getState().set({ target: null }), []);
  const onOlder = useCallback(() => {
    if (mirror !== null) void mirror.older();
  }, [mirror]);
  const modelCard = !canAnswer && <ModelCard />;

  return (
    <main className="flex min-h-0 min-w-0 flex-1 flex-col">
      <Header sessionId={sessionId} run={run} />
      <Thread
        key={sessionId ?? 'new'}
        state={state}
        stopping={isStopping}
        mayAsk={mayAsk}
        loadingOlder={view.loadingOlder}
        deeds={deeds}
        onOlder={onOlder}
        target={target}
        onTarget={onTarget}
        empty={canAnswer ? <Starters onPick={deeds.edit} /> : null}
        foot={
          <>
            {view.error !== null && (
              <div className="pb-24">
                <ErrorCard
                  error={view.error}
                  run={{
                    retry: () => mirror?.reload(),
                    wait: () => mirror?.reload(),
                    newChat: () => ui.openChat(null),
                    reload: () => mirror?.reload(),
                  }}
                />
              </div>
            )}
            {error !== null && (
              <div className="pb-24">
                <ErrorCard
                  error={error}
                  run={{
                    retry: clear,
                    dismiss: clear,
                    stopRunning: stop,
                    newChat: () => ui.openChat(null),
                    restart: () => {
                      clear();
                      services.connection.retry();
                    },
                    reload: () => mirror?.reload(),
                  }}
                />
              </div>
            )}
            {modelCard}
          </>
        }
      />
      <div className="shrink-0 px-16 pt-4 wide:px-24">{voiceBar}</div>
      <div data-region="composer" className="shrink-0 px-16 pb-16 wide:px-24">
        <Composer
          talk={talk}
          speaking={spoken.speaking}
          field={field}
          sessionId={sessionId}
          running={running}
          stopping={isStopping}
          canAnswer={canAnswer}
          onSent={(sent) => {
            if (sessionId === null) ui.openChat(sent.sessionId);
          }}
          onStop={stop}
          onNewChat={() => ui.openChat(null)}
        />
      </div>
    </main>
  );
}

/** @param run  does a deed; its fault stands in this chat's thread. */
function Header({ sessionId, run }: { sessionId: SessionId | null; run: (deed: () => Promise<unknown>) => void }) {
  const t = useTexts();
  const { api } = useServices();
  const ui = useUi();
  const layout = useLayout();
  const language = useLive('language').value;
  // What answers is only known while there is a way to ask.
  const connected = useConnection().kind === 'open';
  const session = useLive('sessions').value?.sessions.find((s) => s.id === sessionId) ?? null;
  const [renaming, setRenaming] = useState(false);
  const rename = (title: string) => {
    if (sessionId !== null) run(() => api.sessions.setTitle({ sessionId, title }));
  };
  return (
    <header className="flex h-row-2 shrink-0 items-center gap-8 border-b border-line px-16 wide:px-24">
      {(layout !== 'wide' || !ui.listOpen) && (
        <IconButton
          icon={PanelLeft}
          name={t('chats.open')}
          keys="Ctrl B"
          side="bottom"
          className="-ml-8"
          onClick={() => ui.set({ listOpen: true })}
        />
      )}
      <div className="min-w-0 flex-1">
        {renaming && session !== null ? (
          <div className="max-w-list">
            <RenameField session={session} onDone={() => setRenaming(false)} deeds={{ rename: (_, title) => rename(title) }} />
          </div>
        ) : (
          <h1 className="truncate text-heading" title={session?.title ?? undefined}>
            {session === null ? t('thread.newChat') : (session.title ?? t('chats.untitled'))}
          </h1>
        )}
      </div>
      {language !== null && language.state !== 'none' && connected && layout !== 'one' && (
        <p className="flex min-w-0 shrink items-center gap-4 truncate text-small text-text-2">
          <span className="truncate">{language.name ?? t('strip.unknownModel')}</span>
          <span aria-hidden="true">·</span>
          <Where where="here" />
        </p>
      )}
      {session !== null && (
        <Menu
          label={t('thread.menu')}
          items={[
            { name: t('chats.rename'), icon: Pencil, run: () => setRenaming(true) },
            {
              name: t('chats.trash'),
              icon: Trash2,
              run: () => run(() => api.sessions.trash({ sessionId: session.id }).then(() => ui.openChat(null))),
            },
          ]}
        >
          <IconButton icon={Ellipsis} name={t('thread.menu')} side="bottom" />
        </Menu>
      )}
    </header>
  );
}
