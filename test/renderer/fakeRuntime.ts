import { ORPCError } from '@orpc/client';
import { createRouterClient, implement } from '@orpc/server';
import type { Link, Transport } from '../../src/renderer/lib/transport.ts';
import { appErrors } from '../../src/shared/contract/clientErrors.ts';
import { contract } from '../../src/shared/contract/index.ts';
import type { MachineInfo } from '../../src/shared/contract/machine.ts';
import type { DownloadsValue } from '../../src/shared/contract/models.ts';
import type { RuntimeHealth } from '../../src/shared/contract/runtime.ts';
import type { SearchHit, SessionListValue } from '../../src/shared/contract/sessions.ts';
import { Settings } from '../../src/shared/contract/settings.ts';
import type { DurableEvent, DurableEventData, DurableEventType, EphemeralEvent, WatchItem } from '../../src/shared/domain/events.ts';
import { type MessageId, type ModelId, newId, type SessionId, type TurnId } from '../../src/shared/domain/ids.ts';
import { limits } from '../../src/shared/domain/limits.ts';
import { plainText } from '../../src/shared/domain/message.ts';
import type { CatalogueEntry, DownloadJob, InstalledModel, LanguageStatus } from '../../src/shared/domain/models.ts';
import type { Session, TranscriptMessage, Turn, TurnSummary, Usage } from '../../src/shared/domain/session.ts';
import { summarise } from '../../src/shared/domain/voiceLatency.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { codes, type ErrorCode } from '../../src/shared/errors/codes.ts';
import { deferred } from '../../src/shared/util/deferred.ts';
import { createLiveValue } from '../../src/shared/util/liveValue.ts';
import { createFakeVoice, voiceOff } from './fakeVoice.ts';
import { createFakeVoices } from './fakeVoices.ts';

type Stored = {
  session: Session;
  events: DurableEvent[];
  messages: TranscriptMessage[];
  turns: Map<TurnId, Turn>;
  watchers: Set<(item: WatchItem) => void>;
  live: EphemeralEvent[];
  draft: string;
};

/** One running turn, moved by the test. */
export type Running = {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  ephemeral(event: Omit<Extract<EphemeralEvent, { type: `model.${string}` }>, 'turn_id'>): void;
  loading(fraction: number): void;
  reading(done: number, total: number, etaMs: number | null): void;
  thinking(): void;
  say(delta: string): void;
  complete(options?: { usage?: Usage | null; stopReason?: 'end' | 'max_output' }): void;
  fail(code: ErrorCode, details?: Record<string, unknown>): void;
  /** As after a crash: cut, waiting for a person's decision. */
  interrupt(): void;
};

export type FakeRuntime = ReturnType<typeof createFakeRuntime>;

export const usage: Usage = {
  model: 'Qwen3 1.7B',
  promptTokens: 412,
  reusedTokens: 380,
  outputTokens: 126,
  firstTokenMs: 890,
  tokensPerSecond: 17.3,
  totalMs: 8210,
  where: 'here',
};

export const starter: CatalogueEntry = {
  id: 'qwen3-1.7b-q4' as CatalogueEntry['id'],
  name: 'Qwen3 1.7B',
  slot: 'language',
  runtimeClass: 'generic-gguf',
  about: 'Answers questions and writes short texts in many languages; facts can be wrong.',
  parameters: '1.7 billion, 4-bit',
  licence: { id: 'Apache-2.0', url: 'https://example.org/licence' },
  file: { name: 'qwen3-1.7b-q4_k_m.gguf', bytes: 1_107_409_472, sha256: 'a'.repeat(64) },
  sources: [{ kind: 'hub', url: 'https://models.example.org/qwen3-1.7b.gguf', mirrors: [] }],
  starter: true,
};

export const ready: LanguageStatus = {
  state: 'ready',
  modelId: starter.id,
  name: 'Qwen3 1.7B',
  fraction: null,
  contextSize: 8192,
  device: 'CPU',
  cpuVariant: 'haswell',
  error: null,
};

export const someMachine: MachineInfo = {
  platform: 'linux',
  architecture: 'x64',
  processor: 'AMD Ryzen 5 5600U',
  threads: 12,
  memory: { totalBytes: 16_600_000_000, freeBytes: 9_100_000_000 },
  disk: { freeBytes: 212_000_000_000, keptFreeBytes: 1_073_741_824 },
  cpuVariant: null,
  offline: false,
};

export const noModel: LanguageStatus = {
  ...ready,
  state: 'none',
  modelId: null,
  name: null,
  contextSize: null,
  device: null,
  cpuVariant: null,
};

export function downloadJob(change: Partial<DownloadJob> = {}): DownloadJob {
  return {
    jobId: newId('job', 1_700_000_000_000),
    modelId: starter.id,
    phase: 'downloading',
    waitingFor: null,
    nextTryAt: null,
    received: 476_186_000,
    total: starter.file.bytes,
    bytesPerSec: 31_200_000,
    etaMs: 20_300,
    attempts: 1,
    host: 'models.example.org',
    startedAt: '2026-05-03T09:40:00.000Z',
    updatedAt: '2026-05-03T09:41:00.000Z',
    restarted: null,
    error: null,
    resumable: true,
    ...change,
  };
}

/**
 * The contract over maps in memory: what the page talks to in page tests and screenshots. It keeps the promises that the page relies on
 * (idempotent sends, durable events by sequence, live snapshots, a stage and text snapshot for a late watcher), and nothing more.
 */
export function createFakeRuntime(options: { nowMs?: () => number; language?: LanguageStatus } = {}) {
  const nowMs = options.nowMs ?? (() => Date.UTC(2026, 4, 3, 9, 41, 0));
  const stored = new Map<SessionId, Stored>();
  const voices = createFakeVoices();
  const language = createLiveValue<LanguageStatus>(options.language ?? ready);
  const downloads = createLiveValue<DownloadsValue>({ jobs: [] });
  const settings = createLiveValue<Settings>(Settings.parse({ firstRun: 'done' }));
  let machine: MachineInfo = { ...someMachine };
  const health = createLiveValue<RuntimeHealth>({
    version: '0.1.0',
    instance: 'fake',
    startedAt: new Date(nowMs()).toISOString(),
    node: '24.21.0',
    store: { state: 'ok', code: null },
    engines: [],
    refusals: {},
  });
  const voice = createFakeVoice();
  const list = createLiveValue<SessionListValue>({ sessions: [], total: 0, trashed: 0 });
  let newDraft = '';
  let catalogue: CatalogueEntry[] = [starter];
  let installed: InstalledModel[] = [];
  let loaded: { key: string; memoryBytes: number | null; modelIds: ModelId[] }[] = [];
  let searchHits: ((query: string) => SearchHit[]) | null = null;
  /** Calls by name, in order, with their input. */
  const calls: { name: string; input: unknown }[] = [];
  const failing = new Map<string, AppError[]>();
  const holds = new Map<string, Promise<void>>();
  let running: Running | null = null;
  let started = deferred<Running>();

  const at = () => new Date(nowMs()).toISOString();
  const wire = (error: AppError) =>
    new ORPCError(error.code, { status: codes[error.code].status, message: error.message, data: error.data });

  const enter = async (name: string, input: unknown) => {
    calls.push({ name, input });
    await holds.get(name);
    const next = failing.get(name)?.shift();
    if (next !== undefined) throw wire(next);
  };

  const relist = () => {
    const all = [...stored.values()].map((s) => s.session).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
    const kept = all.filter((s) => s.trashedAt === null);
    list.set({ sessions: kept.slice(0, limits.sessionPageMax), total: kept.length, trashed: all.length - kept.length });
  };

  const need = (id: SessionId): Stored => {
    const found = stored.get(id);
    if (found === undefined) throw wire(new AppError('SESSION_NOT_FOUND'));
    return found;
  };

  const makeSession = (id: SessionId, title: string | null, updatedAt = at()): Stored => {
    const session: Session = {
      id,
      agentId: 'assistant' as Session['agentId'],
      agentRevisionId: newId('rev', nowMs()),
      agentRevision: 1,
      status: 'idle',
      title,
      titleBy: title === null ? null : 'model',
      metadata: {},
      driverSessionId: null,
      parentSessionId: null,
      origin: 'app',
      createdAt: updatedAt,
      updatedAt,
      archivedAt: null,
      trashedAt: null,
    };
    const made: Stored = { session, events: [], messages: [], turns: new Map(), watchers: new Set(), live: [], draft: '' };
    stored.set(id, made);
    return made;
  };

  const change = (id: SessionId, values: Partial<Session>): Session => {
    const s = need(id);
    s.session = { ...s.session, ...values };
    relist();
    return s.session;
  };

  const emit = (s: Stored, item: WatchItem) => {
    for (const watcher of s.watchers) watcher(item);
  };

  const append = <T extends DurableEventType>(s: Stored, type: T, turnId: TurnId | undefined, data: DurableEventData<T>): DurableEvent => {
    const event: DurableEvent = {
      id: newId('event', nowMs()),
      type,
      ts: at(),
      session_id: s.session.id,
      sequence: s.events.length + 1,
      context: turnId === undefined ? {} : { turn_id: turnId },
      data: plainJson(data),
    };
    s.events.push(event);
    emit(s, { kind: 'durable', event });
    return event;
  };

  const ephemeral = (s: Stored, event: EphemeralEvent) => {
    s.live.push(event);
    emit(s, { kind: 'ephemeral', event });
  };

  const message = (
    s: Stored,
    event: DurableEvent,
    turnId: TurnId,
    id: MessageId,
    role: 'user' | 'assistant',
    text: string,
    interrupted: boolean,
  ) => {
    s.messages.push({
      id,
      turnId,
      role,
      text,
      sequence: event.sequence,
      at: event.ts,
      interrupted,
      unreadable: false,
      supersededBy: null,
      heard: null,
    });
  };

  const setTurn = (s: Stored, id: TurnId, values: Partial<Turn>) => {
    const turn = s.turns.get(id);
    if (turn !== undefined) s.turns.set(id, { ...turn, ...values });
  };

  const startTurn = (s: Stored, text: string, key: string, retryOf: TurnId | null): Turn => {
    const turnId = newId('turn', nowMs());
    const messageId = newId('msg', nowMs());
    const turn: Turn = {
      id: turnId,
      sessionId: s.session.id,
      idempotencyKey: key,
      inputDigest: '',
      status: 'running',
      input: { id: messageId, role: 'user', content: [{ type: 'text', text }] },
      result: null,
      error: null,
      attempt: 1,
      createdAt: at(),
      startedAt: at(),
      completedAt: null,
      waitingOn: null,
      retryOf,
    };
    s.turns.set(turnId, turn);
    const input = append(s, 'input.message', turnId, {
      message: turn.input,
      delivery: 'started',
      source: 'app',
      ...(retryOf === null ? {} : { retry_of: retryOf }),
    });
    if (retryOf !== null) for (const m of s.messages) if (m.turnId === retryOf) m.supersededBy = turnId;
    message(s, input, turnId, messageId, 'user', text, false);
    append(s, 'turn.started', turnId, { turn_id: turnId, attempt: 1, idempotency_key: key });
    change(s.session.id, { status: 'active', updatedAt: at(), title: s.session.title ?? text.slice(0, 60) });
    running = run(s, turnId);
    started.resolve(running);
    return turn;
  };

  const run = (s: Stored, turnId: TurnId): Running => {
    const messageId = newId('msg', nowMs());
    let text = '';
    const finish = (values: Partial<Turn>) => {
      setTurn(s, turnId, { completedAt: at(), ...values });
      s.live = [];
      change(s.session.id, { status: 'idle', updatedAt: at() });
      started = deferred();
      running = null;
    };
    const output = (interrupted: boolean) => {
      if (text === '') return;
      const event = append(s, 'output.message.completed', turnId, {
        message: { id: messageId, role: 'assistant', content: [{ type: 'text', text }] },
        phase: 'final',
        ...(interrupted ? { interrupted } : {}),
      });
      message(s, event, turnId, messageId, 'assistant', text, interrupted);
    };
    const controls: Running = {
      sessionId: s.session.id,
      turnId,
      ephemeral: (event) => ephemeral(s, { ...event, turn_id: turnId } as EphemeralEvent),
      loading: (fraction) => ephemeral(s, { type: 'model.loading', turn_id: turnId, fraction }),
      reading: (done, total, etaMs) => ephemeral(s, { type: 'model.prefill', turn_id: turnId, done, total, etaMs }),
      thinking: () => ephemeral(s, { type: 'model.generating', turn_id: turnId }),
      say(delta) {
        text += delta;
        ephemeral(s, { type: 'output.message.delta', turn_id: turnId, message_id: messageId, delta, accumulated: text.length });
      },
      complete({ usage: used = usage, stopReason = 'end' } = {}) {
        output(false);
        append(s, 'turn.completed', turnId, { turn_id: turnId, stop_reason: stopReason, ...(used === null ? {} : { usage: used }) });
        finish({
          status: 'completed',
          result: { metadata: {}, stop_reason: stopReason, ...(used === null ? {} : { usage: used }) },
        });
      },
      fail(code, details = {}) {
        output(true);
        const values = plainJson(details);
        append(s, 'turn.failed', turnId, { turn_id: turnId, error: code, error_code: code, details: values });
        finish({ status: 'failed', error: { code, message: code, details: values } });
      },
      interrupt() {
        output(true);
        append(s, 'turn.interrupted', turnId, { turn_id: turnId });
        s.live = [];
        setTurn(s, turnId, { waitingOn: 'needs_reconciliation' });
        change(s.session.id, { status: 'waitingforinput' });
        running = null;
      },
    };
    return controls;
  };

  const summary = (turn: Turn): TurnSummary => ({
    id: turn.id,
    status: turn.status,
    error: turn.error,
    attempt: turn.attempt,
    createdAt: turn.createdAt,
    startedAt: turn.startedAt,
    completedAt: turn.completedAt,
    waitingOn: turn.waitingOn,
    retryOf: turn.retryOf,
    usage: turn.result?.usage ?? null,
    stopReason: turn.result?.stop_reason ?? null,
  });

  const os = implement(contract);
  const router = os.router({
    runtime: os.runtime.router({ health: os.runtime.health.handler(({ signal }) => health.watch(signal)) }),
    sessions: os.sessions.router({
      start: os.sessions.start.handler(async ({ input }) => {
        await enter('sessions.start', input);
        const id = input.sessionId ?? newId('session', nowMs());
        const existing = stored.get(id);
        if (existing !== undefined) return { session: existing.session, existing: true };
        const made = makeSession(id, input.title ?? null);
        relist();
        return { session: made.session, existing: false };
      }),
      get: os.sessions.get.handler(({ input }) => need(input.sessionId).session),
      list: os.sessions.list.handler(async ({ input }) => {
        await enter('sessions.list', input);
        const all = [...stored.values()]
          .map((s) => s.session)
          .filter((s) => (s.trashedAt !== null) === input.trash)
          .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
        const from = Number(input.pageToken ?? 0);
        const next = from + input.limit;
        return { sessions: all.slice(from, next), nextPageToken: next < all.length ? String(next) : null };
      }),
      watchList: os.sessions.watchList.handler(async function* ({ signal }) {
        await enter('sessions.watchList', {});
        yield* list.watch(signal);
      }),
      setTitle: os.sessions.setTitle.handler(async ({ input }) => {
        await enter('sessions.setTitle', input);
        return change(input.sessionId, { title: input.title, titleBy: 'owner' });
      }),
      trash: os.sessions.trash.handler(async ({ input }) => {
        await enter('sessions.trash', input);
        return change(input.sessionId, { trashedAt: at() });
      }),
      restore: os.sessions.restore.handler(async ({ input }) => {
        await enter('sessions.restore', input);
        return change(input.sessionId, { trashedAt: null });
      }),
      erase: os.sessions.erase.handler(async ({ input }) => {
        await enter('sessions.erase', input);
        need(input.sessionId);
        stored.delete(input.sessionId);
        relist();
        return { erased: true as const };
      }),
      search: os.sessions.search.handler(async ({ input }) => {
        await enter('sessions.search', input);
        const hits = searchHits === null ? find(input.query) : searchHits(input.query);
        return { hits: hits.slice(0, input.limit), more: hits.length > input.limit };
      }),
      getDraft: os.sessions.getDraft.handler(async ({ input }) => {
        await enter('sessions.getDraft', input);
        return { text: input.sessionId === null ? newDraft : need(input.sessionId).draft };
      }),
      setDraft: os.sessions.setDraft.handler(async ({ input }) => {
        await enter('sessions.setDraft', input);
        if (input.sessionId === null) newDraft = input.text;
        else need(input.sessionId).draft = input.text;
        return { savedAt: at() };
      }),
    }),
    turns: os.turns.router({
      send: os.turns.send.handler(async ({ input }) => {
        await enter('turns.send', input);
        const s = need(input.sessionId);
        const text = typeof input.content === 'string' ? input.content : plainText({ content: input.content });
        const key = input.idempotencyKey ?? crypto.randomUUID();
        for (const turn of s.turns.values())
          if (turn.idempotencyKey === key) return { turnId: turn.id, delivery: 'started' as const, duplicate: true, turn };
        const turn = startTurn(s, text, key, null);
        return { turnId: turn.id, delivery: 'started' as const, duplicate: false, turn };
      }),
      retry: os.turns.retry.handler(async ({ input }) => {
        await enter('turns.retry', input);
        const s = need(input.sessionId);
        const before = s.turns.get(input.turnId);
        if (before === undefined) throw wire(new AppError('TURN_NOT_FOUND'));
        const turn = startTurn(s, plainText(before.input), input.idempotencyKey ?? crypto.randomUUID(), before.id);
        return { turnId: turn.id, delivery: 'started' as const, duplicate: false, turn };
      }),
      cancel: os.turns.cancel.handler(async ({ input }) => {
        await enter('turns.cancel', input);
        const s = need(input.sessionId);
        if (running === null || input.turnId !== running.turnId) throw wire(new AppError('NO_ACTIVE_TURN'));
        const { turnId } = running;
        const text = s.live.flatMap((e) => (e.type === 'output.message.delta' ? [e] : []));
        const last = text.at(-1);
        if (last !== undefined) {
          const whole = text.map((e) => e.delta).join('');
          const event = append(s, 'output.message.completed', turnId, {
            message: { id: last.message_id, role: 'assistant', content: [{ type: 'text', text: whole }] },
            phase: 'final',
            interrupted: true,
          });
          message(s, event, turnId, last.message_id, 'assistant', whole, true);
        }
        append(s, 'turn.cancelled', turnId, { turn_id: turnId, stop_reason: 'cancelled', by: 'owner', reason: 'stopped' });
        setTurn(s, turnId, { status: 'cancelled', completedAt: at(), result: { metadata: {}, stop_reason: 'cancelled' } });
        s.live = [];
        change(s.session.id, { status: 'idle' });
        running = null;
        started = deferred();
        return { turnId, status: 'cancelled' as const };
      }),
      get: os.turns.get.handler(({ input }) => {
        const turn = need(input.sessionId).turns.get(input.turnId);
        if (turn === undefined) throw wire(new AppError('TURN_NOT_FOUND'));
        return turn;
      }),
      decide: os.turns.decide.handler(async ({ input }) => {
        await enter('turns.decide', input);
        const s = need(input.sessionId);
        if (input.choice === 'resume') {
          setTurn(s, input.turnId, { waitingOn: null });
          append(s, 'turn.resumed', input.turnId, { turn_id: input.turnId, rerun: [], not_rerun: [] });
          running = run(s, input.turnId);
        } else {
          append(s, 'turn.cancelled', input.turnId, { turn_id: input.turnId, stop_reason: 'cancelled', by: 'owner', reason: 'stopped' });
          setTurn(s, input.turnId, { status: 'cancelled', waitingOn: null });
          change(s.session.id, { status: 'idle' });
        }
        const turn = s.turns.get(input.turnId);
        if (turn === undefined) throw wire(new AppError('TURN_NOT_FOUND'));
        return turn;
      }),
      history: os.turns.history.handler(async ({ input }) => {
        await enter('turns.history', input);
        const s = need(input.sessionId);
        const end = input.cursor === undefined ? s.messages.length : Number(input.cursor);
        const start = Math.max(0, end - input.limit);
        const messages = s.messages.slice(start, end).map((m) => ({ ...m }));
        const ids = new Set(messages.map((m) => m.turnId));
        return {
          messages,
          turns: [...s.turns.values()].filter((turn) => ids.has(turn.id)).map(summary),
          sequence: s.events.length,
          olderCursor: start > 0 ? String(start) : null,
        };
      }),
    }),
    events: os.events.router({
      list: os.events.list.handler(({ input }) => ({
        events: need(input.sessionId)
          .events.filter((e) => e.sequence > input.after)
          .slice(0, input.limit),
        nextCursor: null,
      })),
      watch: os.events.watch.handler(async function* ({ input, signal }) {
        await enter('events.watch', input);
        const s = need(input.sessionId);
        const queue: WatchItem[] = [
          ...s.events.filter((e) => e.sequence > input.after).map((event) => ({ kind: 'durable' as const, event })),
          ...snapshotOf(s.live).map((event) => ({ kind: 'ephemeral' as const, event })),
        ];
        let wake = () => {};
        const push = (item: WatchItem) => {
          queue.push(item);
          wake();
        };
        s.watchers.add(push);
        try {
          while (!signal?.aborted) {
            const item = queue.shift();
            if (item !== undefined) yield item;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
                signal?.addEventListener('abort', () => resolve(), { once: true });
              });
          }
        } finally {
          s.watchers.delete(push);
        }
      }),
    }),
    models: os.models.router({
      catalogue: os.models.catalogue.handler(async () => {
        await enter('models.catalogue', {});
        return { entries: catalogue };
      }),
      installed: os.models.installed.handler(async () => {
        await enter('models.installed', {});
        return { models: installed };
      }),
      loaded: os.models.loaded.handler(async () => {
        await enter('models.loaded', {});
        return { engines: loaded };
      }),
      startDownload: os.models.startDownload.handler(async ({ input }) => {
        await enter('models.startDownload', input);
        const { modelId } = input;
        const total = catalogue.find(({ id }) => id === modelId)?.file.bytes ?? starter.file.bytes;
        const job = downloadJob({
          jobId: newId('job', nowMs()),
          modelId,
          phase: 'queued',
          received: 0,
          total,
          bytesPerSec: 0,
          etaMs: null,
        });
        downloads.set({ jobs: [...downloads.get().jobs.filter((one) => one.modelId !== modelId), job] });
        return { jobId: job.jobId, joined: false };
      }),
      pauseDownload: os.models.pauseDownload.handler(async ({ input }) => {
        await enter('models.pauseDownload', input);
        return moveJob({ phase: 'paused', bytesPerSec: 0, etaMs: null }, input.jobId);
      }),
      resumeDownload: os.models.resumeDownload.handler(async ({ input }) => {
        await enter('models.resumeDownload', input);
        return moveJob({ phase: 'downloading', error: null }, input.jobId);
      }),
      cancelDownload: os.models.cancelDownload.handler(async ({ input }) => {
        await enter('models.cancelDownload', input);
        return moveJob({ phase: 'cancelled', received: 0 }, input.jobId);
      }),
      downloads: os.models.downloads.handler(({ signal }) => downloads.watch(signal)),
      language: os.models.language.handler(({ signal }) => language.watch(signal)),
      enableLanguage: os.models.enableLanguage.handler(async ({ input }) => {
        await enter('models.enableLanguage', input);
        return { enabled: true as const };
      }),
    }),
    machine: os.machine.router({
      info: os.machine.info.handler(async () => {
        await enter('machine.info', {});
        return machine;
      }),
    }),
    speech: os.speech.router({
      transcribe: os.speech.transcribe.handler(() => {
        throw new AppError('ASR_UNAVAILABLE', { reason: 'model-missing' });
      }),
      say: os.speech.say.handler(async function* ({ input, signal }) {
        await enter('speech.say', input);
        try {
          yield* voices.say(input, signal);
        } catch (error) {
          throw error instanceof AppError ? wire(error) : error;
        }
      }),
      voices: os.speech.voices.handler(async ({ input }) => {
        await enter('speech.voices', input);
        return voices.list();
      }),
      measure: os.speech.measure.handler(async ({ input }) => {
        await enter('speech.measure', input);
        voices.measure(input.modelId, 0.4);
        return { speedFactor: 0.4 };
      }),
    }),
    voice: os.voice.router({
      phase: os.voice.phase.handler(({ signal }) => voice.view.watch(signal)),
      arm: os.voice.arm.handler(async ({ input }) => {
        await enter('voice.arm', input);
        try {
          return voice.arm(input.line);
        } catch (error) {
          throw error instanceof AppError ? wire(error) : error;
        }
      }),
      disarm: os.voice.disarm.handler(async () => {
        await enter('voice.disarm', {});
        voice.view.set({ ...voiceOff, muted: voice.view.get().muted });
        return voice.view.get();
      }),
      mute: os.voice.mute.handler(async ({ input }) => {
        await enter('voice.mute', input);
        voice.show({ muted: input.muted });
        return voice.view.get();
      }),
      cancel: os.voice.cancel.handler(async () => {
        await enter('voice.cancel', {});
        return { cancelled: true };
      }),
      testMicrophone: os.voice.testMicrophone.handler(async function* ({ signal }) {
        await enter('voice.testMicrophone', {});
        yield { granted: true as const };
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
      }),
      latency: os.voice.latency.handler(async ({ input }) => {
        await enter('voice.latency', input);
        const records = voice.records();
        const { stages, toSound, slowest } = summarise(records);
        return { records: records.slice(0, input.limit), summary: { stages: [...stages], toSound, slowest } };
      }),
    }),
    ledger: os.ledger.router({ list: os.ledger.list.handler(() => ({ rows: [], nextBefore: null })) }),
    settings: os.settings.router({
      watch: os.settings.watch.handler(({ signal }) => settings.watch(signal)),
      set: os.settings.set.handler(async ({ input }) => {
        await enter('settings.set', input);
        const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
        settings.set(Settings.parse({ ...settings.get(), ...given }));
        return settings.get();
      }),
    }),
    server: os.server.router({
      keys: os.server.keys.handler(() => ({ keys: [] })),
      createKey: os.server.createKey.handler(() => {
        throw wire(new AppError('NOT_FOUND'));
      }),
      revokeKey: os.server.revokeKey.handler(() => {
        throw wire(new AppError('NOT_FOUND'));
      }),
      oneTimeCode: os.server.oneTimeCode.handler(() => ({ code: 'ABCD-EFGH', expiresAt: at() })),
    }),
  });

  /** Changes the job with this id, or the first one. */
  const moveJob = (values: Partial<DownloadJob>, jobId?: string): DownloadJob => {
    const { jobs } = downloads.get();
    const at = Math.max(
      0,
      jobs.findIndex((one) => one.jobId === jobId),
    );
    const job = { ...downloadJob(), ...jobs[at], ...values };
    downloads.set({ jobs: jobs.length === 0 ? [job] : jobs.with(at, job) });
    return job;
  };

  const find = (query: string): SearchHit[] => {
    const hits: SearchHit[] = [];
    const words = query.toLowerCase();
    for (const s of stored.values()) {
      const base = { sessionId: s.session.id, title: s.session.title, inTrash: s.session.trashedAt !== null, at: s.session.updatedAt };
      const inTitle = s.session.title?.toLowerCase().indexOf(words) ?? -1;
      if (inTitle >= 0)
        hits.push({
          ...base,
          where: 'title',
          turnId: null,
          sequence: null,
          excerpt: s.session.title ?? '',
          marks: [[inTitle, inTitle + words.length]],
        });
      for (const m of s.messages) {
        const i = m.text.toLowerCase().indexOf(words);
        if (i < 0) continue;
        const from = Math.max(0, i - 40);
        hits.push({
          ...base,
          where: 'message',
          turnId: m.turnId,
          sequence: m.sequence,
          excerpt: m.text.slice(from, i + words.length + 60),
          marks: [[i - from, i - from + words.length]],
          at: m.at,
        });
      }
    }
    return hits;
  };

  /** A way to this runtime that a test can cut. */
  const client = createRouterClient(router);
  let cut = deferred<{ signedOut: boolean }>();
  let refuse: AppError | null = null;
  let opens = 0;
  const choices: (string | undefined)[] = [];
  const transport: Transport = {
    kind: 'memory',
    async open(_signal, damaged): Promise<Link> {
      opens += 1;
      choices.push(damaged);
      if (refuse !== null) throw refuse;
      cut = deferred();
      const mine = cut;
      return {
        link: {
          call(path, input, callOptions) {
            let target: unknown = client;
            for (const part of path) target = (target as Record<string, unknown>)[part];
            const cutOff = mine.promise.then(() => {
              throw Object.assign(new Error('link is closed'), { name: 'AbortError' });
            });
            const abort = new AbortController();
            void mine.promise.then(() => abort.abort());
            callOptions.signal?.addEventListener('abort', () => abort.abort(), { once: true });
            // As over a port: only what can be cloned crosses.
            const call = (target as (input: unknown, options: object) => Promise<unknown>)(structuredClone(input), {
              signal: abort.signal,
            });
            const next = () => Promise.race([call, cutOff]).then((output) => untilCut(output, cutOff));
            return appErrors({ input, signal: callOptions.signal, next });
          },
        },
        closed: mine.promise,
        close: () => mine.resolve({ signedOut: false }),
      };
    },
    openVoice: (signal) => voice.openVoice(signal),
  };

  return {
    router,
    transport,
    voices,
    language,
    downloads,
    settings,
    health,
    list,
    voice,
    calls,
    callsOf: (name: string) => calls.filter((c) => c.name === name).map((c) => c.input),
    stored,
    get running(): Running {
      if (running === null) throw new Error('no turn runs');
      return running;
    },
    /** The next turn that starts, or the one that runs. */
    started: () => started.promise,
    /** What each link was asked for with. */
    choices,
    get opens() {
      return opens;
    },
    draftOf: (id: SessionId | null) => (id === null ? newDraft : need(id).draft),
    setDraft(id: SessionId | null, text: string) {
      if (id === null) newDraft = text;
      else need(id).draft = text;
    },
    setMachine(info: Partial<MachineInfo>) {
      machine = { ...machine, ...info };
    },
    setInstalled(models: InstalledModel[]) {
      installed = models;
    },
    setLoaded(engines: typeof loaded) {
      loaded = engines;
    },
    setCatalogue(entries: CatalogueEntry[]) {
      catalogue = entries;
    },
    setSearch(hits: (query: string) => SearchHit[]) {
      searchHits = hits;
    },
    moveJob,
    /** The next call of this name fails with this. */
    failNext(name: string, error: AppError) {
      failing.set(name, [...(failing.get(name) ?? []), error]);
    },
    /** Calls of this name wait until the returned function is called. */
    hold(name: string): () => void {
      const gate = deferred<void>();
      holds.set(name, gate.promise);
      return () => {
        holds.delete(name);
        gate.resolve();
      };
    },
    /** A finished chat. Each pair is a question and its answer. */
    chat(title: string | null, pairs: readonly (readonly [string, string])[], updatedAt?: string): SessionId {
      const id = newId('session', nowMs());
      const s = makeSession(id, title);
      for (const [question, answer] of pairs) {
        startTurn(s, question, crypto.randomUUID(), null);
        running?.say(answer);
        running?.complete();
      }
      change(id, { ...(updatedAt === undefined ? {} : { updatedAt, createdAt: updatedAt }), title });
      return id;
    },
    /** Starts a turn from outside (another window). */
    ask(id: SessionId, text: string): Running {
      startTurn(need(id), text, crypto.randomUUID(), null);
      if (running === null) throw new Error('no turn runs');
      return running;
    },
    trash: (id: SessionId) => change(id, { trashedAt: at() }),
    push(id: SessionId, item: WatchItem) {
      emit(need(id), item);
    },
    /** Cuts the link: every call on it ends unanswered. */
    cut(options: { signedOut?: boolean } = {}) {
      cut.resolve({ signedOut: options.signedOut ?? false });
    },
    /** Further links are refused with this; null lets them through again. */
    refuseLinks(error: AppError | null) {
      refuse = error;
    },
  };
}

/** What a watcher that joins now is told: the last stage, and the text so far in one piece. */
function snapshotOf(live: readonly EphemeralEvent[]): EphemeralEvent[] {
  const stage = live.findLast((e) => e.type !== 'output.message.delta');
  const text = live.flatMap((e) => (e.type === 'output.message.delta' ? [e] : []));
  const whole = text.map((e) => e.delta).join('');
  const last = text.at(-1);
  return [...(stage === undefined ? [] : [stage]), ...(last === undefined ? [] : [{ ...last, delta: whole, accumulated: whole.length }])];
}

function untilCut(output: unknown, cutOff: Promise<never>): unknown {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return output;
  const source = (output as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  cutOff.catch(() => undefined);
  return (async function* () {
    try {
      for (;;) {
        const next = await Promise.race([source.next(), cutOff]);
        if (next.done) return;
        yield next.value;
      }
    } finally {
      void source.return?.(undefined);
    }
  })();
}

type Json = DurableEvent['data'];

function plainJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
