import { randomUUID } from 'node:crypto';
import { type MessageId, newId, type TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { type Message, plainText } from '../../shared/domain/message.ts';
import type { Usage } from '../../shared/domain/session.ts';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError, isAppError, toAppError } from '../../shared/errors/appError.ts';
import { crashPoint } from '../../shared/util/crashPoint.ts';
import { type Deferred, deferred } from '../../shared/util/deferred.ts';
import { detach } from '../../shared/util/detach.ts';
import type { Lease, NewEvent } from '../store/eventLog.ts';
import { isStoreFault } from '../store/guard.ts';
import type { TurnRow } from '../store/turnRows.ts';
import { instructionsOf } from './assistant.ts';
import { buildContext, exchangesOf } from './context.ts';
import { dated } from './dateLine.ts';
import { type ModelOutcome, type Reply, runModel } from './driver.ts';
import type { Kernel } from './kernel.ts';

/** Working time, by a timer that does not count sleep (TU-17); 0 would mean none. */
const turnTimeoutMs: number = limits.turnTimeoutMs;
/** CA-03, RE-09: after this a run that does not stop is left to itself; its writes are refused. */
const stopMs = 5_000;
/** How often the text of a growing answer is put aside, so that a crash does not take back what was shown. */
const partialEveryMs = 1_000;
/** Messages of history that are read for one call, and UTF-16 units per token of context: no tokenizer needs more for real text. */
const historyMessages = 4_000;
const unitsPerToken = 16;

export type Runs = {
  /** A slot is free and nobody older waits for one. */
  hasSlot(): boolean;
  /** Inside a transaction: takes the lease and writes `turn.started`; the model is called after the commit. */
  start(turn: TurnRow): void;
  /** Inside a transaction: takes the lease and writes `turn.resumed` (RE-02). The next `pump` runs it, before anything that only waits in the queue. */
  resume(turn: TurnRow): void;
  /** A lease for settling a turn that nobody runs. */
  seize(turn: TurnRow): Lease;
  /** The lease of the run that works on this turn, if one does. */
  leaseOf(turnId: TurnId): Lease | undefined;
  /** After the commit of `turn.cancelling`. */
  abort(turnId: TurnId): void;
  /**
   * Inside a transaction: ends a turn that is being cancelled now, though its run has not stopped yet. @returns false if it cannot,
   * because its end waits for the store.
   */
  giveUp(turnId: TurnId): boolean;
  /** Inside a transaction: how much of the answer was heard, stored with the end of the turn. A turn that nobody runs has no sound. */
  heard(turnId: TurnId, units: number): void;
  /** Starts what waits, as far as slots go. */
  pump(): void;
  /** Called when a turn has ended in the store and its slot is free again. */
  onEnded(listener: (turn: TurnRow, status: Ended) => void): void;
  onStarted(listener: () => void): void;
  readonly active: number;
  /** RE-09: stops everything and leaves it interrupted. */
  close(): Promise<void>;
};

type Run = {
  readonly turn: TurnRow;
  readonly lease: Lease;
  readonly controller: AbortController;
  readonly reply: Reply;
  /** UTF-16 units of the answer; null = nobody said. */
  heard: number | null;
  /** Resolves when the run is given up though it still works. */
  readonly abandoned: Deferred<void>;
  why: 'cancel' | 'timeout' | 'quit' | null;
  over: boolean;
  done: Promise<void>;
};

type Ended = 'completed' | 'failed' | 'cancelled';
type Outcome = ModelOutcome | { readonly error: AppError };

/** The turns that run now: at most four (TU-17), each with its lease, its abort signal and its share of the live view. */
export function createRuns(kernel: Kernel): Runs {
  const { store, clock, log, events, turns, hub } = kernel;
  const running = new Map<TurnId, Run>();
  const resuming: TurnRow[] = [];
  let closed = false;
  let tellEnded: (turn: TurnRow, status: Ended) => void = () => {};
  let tellStarted: () => void = () => {};

  function seize(turn: TurnRow): Lease {
    const lease: Lease = { generation: store.generation, token: randomUUID() };
    turns.takeLease(turn, lease, timestamp(clock.nowMs()));
    return lease;
  }

  function launch(turn: TurnRow, lease: Lease): void {
    const run: Run = {
      turn,
      lease,
      controller: new AbortController(),
      reply: { messageId: newId('msg', clock.nowMs()), text: '', usage: null },
      heard: null,
      abandoned: deferred(),
      why: null,
      over: false,
      done: Promise.resolve(),
    };
    running.set(turn.id, run);
    run.done = work(run)
      .finally(() => {
        run.over = true;
        running.delete(turn.id);
        hub.quiet(turn.session_id, turn.id);
        pump();
      })
      .then((status) => {
        if (status !== null) tellEnded(turn, status);
      });
    detach(run.done, log, 'agent.turn');
    tellStarted();
  }

  async function work(run: Run): Promise<Ended | null> {
    const stopTimeout = turnTimeoutMs === 0 ? () => {} : clock.setTimer(turnTimeoutMs, () => stop(run, 'timeout'));
    const stopPartials = keepPartials(run);
    let outcome: Outcome;
    try {
      const stopped = run.abandoned.promise.then(() => {
        throw new AppError('CANCELLED');
      });
      outcome = await Promise.race([think(run), stopped]);
    } catch (error) {
      outcome = { error: failureOf(run, error) };
    } finally {
      stopTimeout();
      stopPartials();
      run.over = true;
    }
    if (run.why !== 'quit') return finish(run, outcome);
    // What was shown by now survives a quit as it would a crash.
    savePartial(run);
    return null;
  }

  async function think(run: Run): Promise<Outcome> {
    const { turn, lease, controller, reply } = run;
    const model = kernel.models.current();
    if (model === null) throw kernel.models.unavailable();
    return runModel(
      {
        turnId: turn.id,
        model,
        signal: controller.signal,
        clock,
        sampling: kernel.sampling,
        context: (contextSize, count) => contextOf(run, contextSize, count),
        append(list) {
          if (!run.over) events.append(turn.session_id, list, { lease });
        },
        onStage(stage) {
          if (!run.over) hub.stage(turn.session_id, stage);
        },
        onDelta(messageId, delta) {
          if (!run.over) hub.delta(turn.session_id, turn.id, messageId, delta);
        },
      },
      reply,
    );
  }

  async function contextOf(run: Run, contextSize: number, count: Parameters<typeof buildContext>[0]['count']) {
    const { turn, lease } = run;
    const session = kernel.session(turn.session_id);
    const from =
      session.context_from !== null && session.context_size !== null && contextSize <= session.context_size ? session.context_from : 0;
    const rows = store.read(() => turns.historyBefore(turn.session, turn.input_sequence, from, historyMessages));
    let units = contextSize * unitsPerToken;
    const enough = rows.findIndex((row) => {
      units -= row.text.length;
      return units < 0;
    });
    const near = enough < 0 ? rows : rows.slice(0, enough);
    // A cut inside an exchange takes the whole exchange.
    const cut = near.at(-1)?.turn_id === rows[near.length]?.turn_id ? near.at(-1)?.turn_id : undefined;
    const exchanges = exchangesOf(near.filter((row) => row.turn_id !== cut));
    const readable = store.read(() => turns.countHistory(turn.session, turn.input_sequence, from));
    const shown = exchanges.reduce((sum, exchange) => sum + exchange.messages.length, 0);
    const context = await buildContext({
      system: instructionsOf(kernel.agents, session.revision_id),
      exchanges,
      leftOut: readable - shown,
      newest: { text: plainText(JSON.parse(turn.input) as Message), at: turn.created_at, sequence: turn.input_sequence },
      contextSize,
      dated: (text, at) => dated(text, () => kernel.localTime(Date.parse(at))),
      count,
    });
    const { trim } = context;
    if (trim !== null && !run.over)
      events.append(
        turn.session_id,
        [
          {
            type: 'context.trimmed',
            turnId: turn.id,
            data: {
              reason: 'context_size',
              messages_left_out: trim.messagesLeftOut,
              tokens_before: trim.tokensBefore,
              tokens_after: trim.tokensAfter,
              from_sequence: trim.fromSequence,
              context_size: contextSize,
            },
          },
        ],
        { lease },
      );
    return context;
  }

  /** DR-10: a typed failure keeps its code; a timeout of ours is TURN_TIMEOUT whatever the model threw when it was stopped. */
  function failureOf(run: Run, error: unknown): AppError {
    if (run.why === 'timeout') return new AppError('TURN_TIMEOUT', {}, { cause: error });
    const failure = toAppError(error);
    if (failure.code === 'INTERNAL') log.error('agent.turnFailed', { incident: String(failure.data.incident) }, error);
    return failure;
  }

  /** Writes the end. While the store cannot write, the answer is held in memory and the end waits (ST-02). */
  async function finish(run: Run, first: Outcome): Promise<Ended | null> {
    let outcome = first;
    for (;;) {
      try {
        crashPoint('turn.beforeEnd');
        const status = store.write(() => end(run, outcome));
        crashPoint('turn.afterEnd');
        return status;
      } catch (error) {
        if (isAppError(error, 'STALE_WRITER') || isAppError(error, 'SESSION_NOT_FOUND')) {
          log.warn('agent.turnSuperseded', { code: error.code });
          return null;
        }
        if (isAppError(error, 'EVENT_TOO_LARGE')) {
          run.reply.text = '';
          outcome = { error };
        } else if (!isStoreFault(error)) throw error;
        else if (!(await writable())) return null;
      }
    }
  }

  function end(run: Run, outcome: Outcome): Ended | null {
    const { reply } = run;
    const now = turns.get(run.turn.id);
    if (now === undefined || now.completed_at !== null) return null;
    const cancelled = now.status === 'cancelling';
    const failed = 'error' in outcome;
    const { messageId, text } = reply;
    const usage = reply.usage ?? undefined;
    const turnId = run.turn.id;
    const list: NewEvent[] = failed ? [] : [...outcome.closing];
    // Blank text is no message; what was said before a failure or a stop is kept and marked (CA-05, TU-16).
    if (text.trim() !== '') list.push({ type: 'output.message.completed', turnId, data: said(messageId, text, cancelled || failed) });
    if (usage !== undefined) list.push({ type: 'llm.generation', turnId, data: { purpose: 'reply', usage } });
    list.push(
      cancelled
        ? cancelledEvent(turnId, usage, turns.cancelReason(now) ?? undefined)
        : failed
          ? failedEvent(turnId, outcome.error)
          : completedEvent(turnId, outcome, usage),
    );
    if (text.trim() !== '' && run.heard !== null) list.push(heardEvent(turnId, messageId, text, run.heard));
    // Before the end is told: a reader that joins after it must not be given the text again as a growing one.
    store.afterCommit(() => hub.quiet(run.turn.session_id, turnId));
    events.append(run.turn.session_id, list, { lease: run.lease });
    turns.dropPartial(turnId);
    turns.dropLease(run.turn.session);
    return cancelled ? 'cancelled' : failed ? 'failed' : 'completed';
  }

  function putAside({ turn, reply, heard, lease }: Run): void {
    if (reply.text === '') return;
    turns.savePartial(turn, { message_id: reply.messageId, text: reply.text, at: timestamp(clock.nowMs()), heard }, lease);
  }

  function savePartial(run: Run): void {
    try {
      store.write(() => putAside(run));
    } catch (error) {
      // The store says itself that it cannot write; the answer goes on.
      if (!isStoreFault(error)) throw error;
    }
  }

  function keepPartials(run: Run): () => void {
    const { reply } = run;
    let saved = '';
    let takeBack = clock.setTimer(partialEveryMs, tick);
    function tick(): void {
      takeBack = clock.setTimer(partialEveryMs, tick);
      if (reply.text === saved) return;
      saved = reply.text;
      savePartial(run);
      crashPoint('turn.partial');
    }
    return () => takeBack();
  }

  function stop(run: Run, why: 'cancel' | 'timeout' | 'quit'): void {
    if (run.over) return;
    const first = run.why === null;
    if (first || why === 'quit') run.why = why;
    if (!first) return;
    run.controller.abort();
    clock.setTimer(stopMs, () => {
      if (run.over) return;
      log.warn('agent.turnAbandoned', { why });
      run.abandoned.resolve();
    });
  }

  /** @returns false at quit. */
  async function writable(): Promise<boolean> {
    for await (const { value } of store.state.watch(kernel.closing)) if (value.state === 'ok') return true;
    return false;
  }

  function pump(): void {
    if (closed) return;
    try {
      for (let turn = resuming[0]; turn !== undefined && running.size < limits.turnsAtOnce; turn = resuming[0]) {
        resuming.shift();
        const row = store.read(() => turns.get(turn.id));
        if (row?.status === 'running' && row.waiting_on === null)
          launch(
            row,
            store.write(() => seize(row)),
          );
      }
      while (running.size < limits.turnsAtOnce) {
        const row = store.read(() => turns.oldestQueued());
        if (row === undefined) return;
        store.write(() => startNow(row));
      }
    } catch (error) {
      if (!isStoreFault(error)) throw error;
      detach(
        writable().then((ok) => (ok ? pump() : undefined)),
        log,
        'agent.pump',
      );
    }
  }

  function startNow(turn: TurnRow): void {
    const lease = seize(turn);
    events.append(
      turn.session_id,
      [{ type: 'turn.started', data: { turn_id: turn.id, attempt: turn.attempt, idempotency_key: turn.idempotency_key } }],
      {
        lease,
      },
    );
    store.afterCommit(() => {
      crashPoint('turn.afterStarted');
      launch(turn, lease);
    });
  }

  return {
    hasSlot: () =>
      !closed && running.size < limits.turnsAtOnce && resuming.length === 0 && store.read(() => turns.oldestQueued()) === undefined,
    start: startNow,
    resume(turn) {
      const lease = seize(turn);
      const shown = turns.reply(turn.id);
      const list: NewEvent[] = [{ type: 'turn.resumed', data: { turn_id: turn.id, rerun: [], not_rerun: [] } }];
      // What the dead runtime had said is answered anew (EV-07).
      if (shown !== null)
        list.push({ type: 'output.message.replaced', turnId: turn.id, data: { message_id: shown.id, reason: 'resumed' } });
      events.append(turn.session_id, list, { lease });
      store.afterCommit(() => resuming.push(turn));
    },
    seize,
    leaseOf: (turnId) => running.get(turnId)?.lease,
    abort(turnId) {
      const run = running.get(turnId);
      if (run !== undefined) stop(run, 'cancel');
    },
    giveUp(turnId) {
      const run = running.get(turnId);
      if (run === undefined || run.over) return false;
      end(run, { error: new AppError('CANCELLED') });
      store.afterCommit(() => {
        run.over = true;
        run.abandoned.resolve();
      });
      return true;
    },
    heard(turnId, units) {
      const run = running.get(turnId);
      if (run === undefined || run.heard !== null) return;
      run.heard = units;
      // The end of the turn may be a crash away.
      putAside(run);
    },
    pump,
    onEnded(listener) {
      tellEnded = listener;
    },
    onStarted(listener) {
      tellStarted = listener;
    },
    get active() {
      return running.size;
    },
    async close() {
      closed = true;
      const open = [...running.values()];
      for (const run of open) stop(run, 'quit');
      await Promise.all(open.map((run) => run.done.catch(() => undefined)));
    },
  };
}

export function said(messageId: MessageId, text: string, interrupted: boolean) {
  return {
    message: { id: messageId, role: 'assistant' as const, content: [{ type: 'text' as const, text }] },
    phase: 'final' as const,
    ...(interrupted ? { interrupted } : {}),
  };
}

export function cancelledEvent(turnId: TurnId, usage: Usage | undefined, reason = 'asked'): NewEvent {
  return {
    type: 'turn.cancelled',
    data: { turn_id: turnId, stop_reason: 'cancelled', by: 'owner', reason, ...(usage === undefined ? {} : { usage }) },
  };
}

/** @param units  of `text`, from its beginning. */
export function heardEvent(turnId: TurnId, messageId: MessageId, text: string, units: number): NewEvent {
  const heard = Math.min(Math.max(0, Math.floor(units)), text.length);
  return { type: 'output.message.heard', turnId, data: { message_id: messageId, heard_characters: heard } };
}

/** TU-16. `details` are the data of the code, which name no text and no path of the person. */
export function failedEvent(turnId: TurnId, error: AppError): NewEvent {
  const details = JSON.parse(JSON.stringify(error.data)) as Record<string, string>;
  return { type: 'turn.failed', data: { turn_id: turnId, error: error.code, error_code: error.code, details } };
}

function completedEvent(turnId: TurnId, outcome: ModelOutcome, usage: Usage | undefined): NewEvent {
  return { type: 'turn.completed', data: { turn_id: turnId, stop_reason: outcome.stopReason, ...(usage === undefined ? {} : { usage }) } };
}
