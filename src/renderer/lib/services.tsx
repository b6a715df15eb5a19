import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { type StoreApi, useStore } from 'zustand';
import type { DownloadsValue } from '../../shared/contract/models.ts';
import type { RuntimeHealth } from '../../shared/contract/runtime.ts';
import type { SessionListValue } from '../../shared/contract/sessions.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import type { SessionId } from '../../shared/domain/ids.ts';
import type { LanguageStatus } from '../../shared/domain/models.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Sound } from '../audio/sound.ts';
import { type Api, type Connection, type ConnectionState, createConnection } from './connection.ts';
import { createDrafts, type Drafts } from './drafts.ts';
import { createLatencyBook, type LatencyBook } from './latencyBook.ts';
import { createLive, type Live } from './live.ts';
import { createMirrors, type Mirrors } from './mirrors.ts';
import { createReader, type Reader } from './reader.ts';
import type { SessionMirror } from './sessions.ts';
import { createTalkKey, type TalkKey } from './talkKey.ts';
import type { Transport } from './transport.ts';
import { useUi } from './ui.ts';
import { createPageVoice, type PageVoice } from './voice.ts';

/** All that a screen gets from outside, made once per page. */
export type Services = {
  /** `app` is the window of the program; a served page can save files by itself. */
  readonly kind: Transport['kind'];
  readonly connection: Connection;
  readonly api: Api;
  readonly clock: Clock;
  readonly drafts: Drafts;
  readonly mirrors: Mirrors;
  readonly live: {
    readonly sessions: StoreApi<Live<SessionListValue>>;
    readonly downloads: StoreApi<Live<DownloadsValue>>;
    readonly language: StoreApi<Live<LanguageStatus>>;
    readonly settings: StoreApi<Live<Settings>>;
    readonly health: StoreApi<Live<RuntimeHealth>>;
    readonly voice: StoreApi<Live<VoiceView>>;
  };
  /** The devices, where they are not the real ones. */
  readonly sound?: Sound | undefined;
  readonly voice: PageVoice;
  readonly talkKey: TalkKey;
  readonly latency: LatencyBook;
  readonly reader: Reader;
  close(): void;
};

/** @param deps.sound  the devices, where they are not the real ones. */
export function createServices(deps: { transport: Transport; clock: Clock; sound?: Sound | undefined }): Services {
  const connection = createConnection(deps);
  const ended = new AbortController();
  const mirror = { connection, clock: deps.clock, signal: ended.signal };
  const live: Services['live'] = {
    sessions: createLive(mirror, (api, options) => api.sessions.watchList({}, options)),
    downloads: createLive(mirror, (api, options) => api.models.downloads({}, options)),
    language: createLive(mirror, (api, options) => api.models.language({}, options)),
    settings: createLive(mirror, (api, options) => api.settings.watch({}, options)),
    health: createLive(mirror, (api, options) => api.runtime.health({}, options)),
    voice: createLive(mirror, (api, options) => api.voice.phase({}, options)),
  };
  const voice = createPageVoice({
    openVoice: (signal) => deps.transport.openVoice(signal),
    api: connection.api,
    clock: deps.clock,
    live,
    sound: deps.sound,
  });
  const reader = createReader({ api: connection.api, clock: deps.clock, sound: deps.sound, live, onFail: voice.fail });
  return {
    kind: deps.transport.kind,
    connection,
    api: connection.api,
    clock: deps.clock,
    drafts: createDrafts({ connection, clock: deps.clock }),
    mirrors: createMirrors({ connection, clock: deps.clock }),
    live,
    sound: deps.sound,
    voice,
    latency: createLatencyBook({ api: connection.api, live: live.voice }),
    reader,
    talkKey: createTalkKey({ press: (atMs) => voice.press(useUi.getState().sessionId, atMs), release: voice.release }),
    close() {
      reader.close();
      voice.close();
      ended.abort();
      connection.close();
    },
  };
}

const Context = createContext<Services | null>(null);

export function ServicesProvider(props: { services: Services; children: ReactNode }) {
  return <Context value={props.services}>{props.children}</Context>;
}

export function useServices(): Services {
  const services = useContext(Context);
  if (services === null) throw new Error('no ServicesProvider above');
  return services;
}

export function useConnection(): ConnectionState {
  return useStore(useServices().connection.state);
}

export function useLive<K extends keyof Services['live']>(key: K): ReturnType<Services['live'][K]['getState']>;
export function useLive(key: keyof Services['live']): Live<unknown> {
  const store: StoreApi<Live<unknown>> = useServices().live[key];
  return useStore(store);
}

/** The mirror of one chat while the component that asks is on the screen; null for the chat that does not exist yet. */
export function useSessionMirror(sessionId: SessionId | null): SessionMirror | null {
  const { mirrors } = useServices();
  useEffect(() => (sessionId === null ? undefined : mirrors.acquire(sessionId)), [mirrors, sessionId]);
  return useStore(mirrors.open, (open) => (sessionId === null ? null : (open.get(sessionId) ?? null)));
}
