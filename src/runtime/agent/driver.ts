import type { EphemeralEvent } from '../../shared/domain/events.ts';
import { type MessageId, newId, type TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import type { StopReason, Usage } from '../../shared/domain/session.ts';
import { AppError, isAppError } from '../../shared/errors/appError.ts';
import { createThrottle } from '../../shared/util/throttle.ts';
import type {
  LanguageModel,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4Usage,
  ModelProgress,
} from '../inference/languageModel.ts';
import type { NewEvent } from '../store/eventLog.ts';
import type { BuiltContext } from './context.ts';
import type { Clock, SamplingChoice } from './ports.ts';

/** RT-03. */
const maxNewTokens = 2_048;
/** UTF-16 units of one reply; a model that never stops is cut here even if it forgets its own limit. Escaped it still fits an event. */
const maxReplyUnits = Math.floor(limits.maxEventBytes / 8);
/** TU-17, remote models only: local ones are watched by their engine. */
const remoteStallMs = 45_000;

type Stage = Exclude<EphemeralEvent, { type: 'output.message.delta' }>;

export type DriverJob = {
  readonly turnId: TurnId;
  readonly model: LanguageModel;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly sampling: SamplingChoice;
  /** Called once the context size is known, and again for a second try: the log decides, not what an earlier try left in memory. */
  context(contextSize: number, count: (prompt: LanguageModelV4Prompt) => Promise<number>): Promise<BuiltContext>;
  append(events: readonly NewEvent[]): void;
  onStage(stage: Stage): void;
  /** Joined for up to 100 ms (EV-16). */
  onDelta(messageId: MessageId, delta: string): void;
};

/** What the model said up to now; outlives an error or an abort, so that nothing shown is lost. */
export type Reply = { messageId: MessageId; text: string; usage: Usage | null };

/** `closing` is stored together with the end of the turn: a finished answer must not fail because the store pauses just then. */
export type ModelOutcome = { readonly stopReason: StopReason; readonly closing: readonly NewEvent[] };

/**
 * One step of the model: load, build the context, stream the answer. A stall is tried once more from the log (TU-13).
 *
 * @param reply  filled while the model speaks; holds what was said also when this throws.
 * @throws AppError of the model and engine codes, CONTEXT_OVERFLOW, MODEL_STALLED, CANCELLED after an abort.
 */
export async function runModel(job: DriverJob, reply: Reply): Promise<ModelOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(job, reply);
    } catch (error) {
      if (job.signal.aborted || !isAppError(error, 'ENGINE_TIMEOUT')) throw error;
      const remoteSpoke = job.model.where === 'away' && reply.text !== '';
      if (tries === 2 || remoteSpoke) throw new AppError('MODEL_STALLED', { cause: error.code }, { cause: error });
      if (reply.text !== '') {
        const { messageId } = reply;
        job.append([{ type: 'output.message.replaced', turnId: job.turnId, data: { message_id: messageId, reason: 'stalled' } }]);
        reply.messageId = newId('msg', job.clock.nowMs());
        reply.text = '';
      }
    }
  }
}

async function attempt(job: DriverJob, reply: Reply): Promise<ModelOutcome> {
  const { model, clock, signal, turnId } = job;
  const progress = stages(job);
  const { contextSize } = await model.ready({ signal, onProgress: progress });
  const context = await job.context(contextSize, (prompt) => model.countTokens(prompt, { signal }));
  const step = { iteration: 1, model: model.modelId, context_tokens: context.tokens };
  job.append([{ type: 'reason.started', turnId, data: step }]);

  const startedMs = clock.monotonicMs();
  const watch = stallWatch(job);
  const joined = joiner(job, reply);
  let firstMs: number | null = null;
  let pieces = 0;
  let finish: { usage: LanguageModelV4Usage; reason: LanguageModelV4FinishReason } | null = null;
  try {
    const { stream } = await model.doStream({
      prompt: context.prompt,
      maxOutputTokens: Math.max(1, Math.min(maxNewTokens, context.room)),
      ...job.sampling,
      includeRawChunks: true,
      abortSignal: watch.signal,
    });
    const reader = stream.getReader();
    try {
      for (;;) {
        const { done, value: part } = await reader.read();
        if (done) break;
        watch.moved();
        if (part.type === 'raw' && isProgress(part.rawValue)) progress(part.rawValue);
        else if (part.type === 'text-delta' && part.delta !== '') {
          if (firstMs === null) {
            firstMs = clock.monotonicMs();
            job.onStage({ type: 'model.generating', turn_id: turnId });
          }
          pieces += 1;
          joined.add(part.delta);
          if (reply.text.length >= maxReplyUnits) {
            finish = { usage: counted(context.tokens, pieces), reason: { unified: 'length', raw: 'too-long' } };
            break;
          }
        } else if (part.type === 'error') throw part.error;
        else if (part.type === 'finish') finish = { usage: part.usage, reason: part.finishReason };
      }
    } finally {
      // Ends the engine's work as well when the loop was left early.
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    if (watch.stalled()) throw new AppError('ENGINE_TIMEOUT', { engineKey: 'remote', stage: 'decode' });
    throw error;
  } finally {
    watch.end();
    joined.flush();
    if (finish !== null)
      reply.usage = usageOf(job, finish.usage, { startedMs, firstMs, endMs: clock.monotonicMs(), pieces, promptTokens: context.tokens });
  }
  if (signal.aborted) throw new AppError('CANCELLED');
  if (watch.stalled()) throw new AppError('ENGINE_TIMEOUT', { engineKey: 'remote', stage: 'decode' });
  if (finish === null || finish.reason.unified === 'error') throw new AppError('ENGINE_FAULT', { engineKey: 'language', stage: 'decode' });
  return {
    stopReason: finish.reason.unified === 'length' ? 'max_output' : 'end',
    closing: [{ type: 'reason.completed', turnId, data: step }],
  };
}

/** Text to watchers: the first piece at once, then what came within 100 ms together. */
function joiner(job: DriverJob, reply: Reply): { add(delta: string): void; flush(): void } {
  let waiting = '';
  const pass = () => {
    const delta = waiting;
    waiting = '';
    if (delta !== '') job.onDelta(reply.messageId, delta);
  };
  const throttle = createThrottle<null>(job.clock, limits.deltaJoinMs, pass);
  return {
    add(delta) {
      // Half a character at the end waits for its rest with the engine; what comes here alone is broken for good (GE-06).
      const clean = delta.isWellFormed() ? delta : delta.toWellFormed();
      reply.text += clean;
      waiting += clean;
      throttle.push(null);
    },
    flush() {
      throttle.cancel();
      pass();
    },
  };
}

/** Progress of loading and reading as stages, with an estimate once there is something to estimate from. */
function stages(job: DriverJob): (progress: ModelProgress) => void {
  const { clock, turnId } = job;
  let readSince: number | null = null;
  return (progress) => {
    if (progress.kind === 'loading') return job.onStage({ type: 'model.loading', turn_id: turnId, fraction: clamp(progress.fraction) });
    readSince ??= clock.monotonicMs();
    const { done, total, reused } = progress;
    const fresh = done - reused;
    const etaMs = fresh > 0 ? ((clock.monotonicMs() - readSince) / fresh) * (total - done) : null;
    job.onStage({ type: 'model.prefill', turn_id: turnId, done, total, etaMs });
  };
}

/** For a remote model only: aborts the call when nothing came for the stall time. */
function stallWatch(job: DriverJob): { signal: AbortSignal; moved(): void; stalled(): boolean; end(): void } {
  if (job.model.where === 'here') return { signal: job.signal, moved: () => {}, stalled: () => false, end: () => {} };
  const controller = new AbortController();
  let stalled = false;
  let takeBack = () => {};
  const arm = () => {
    takeBack();
    takeBack = job.clock.setTimer(remoteStallMs, () => {
      stalled = true;
      controller.abort();
    });
  };
  arm();
  return {
    signal: AbortSignal.any([job.signal, controller.signal]),
    moved: arm,
    stalled: () => stalled,
    end: () => takeBack(),
  };
}

type Times = { startedMs: number; firstMs: number | null; endMs: number; pieces: number; promptTokens: number };

function usageOf(job: DriverJob, usage: LanguageModelV4Usage, times: Times): Usage {
  const outputTokens = usage.outputTokens.total ?? times.pieces;
  const decodeMs = numberOf(usage.raw?.decodeMs) ?? (times.firstMs === null ? 0 : times.endMs - times.firstMs);
  return {
    model: job.model.modelId,
    promptTokens: usage.inputTokens.total ?? times.promptTokens,
    reusedTokens: usage.inputTokens.cacheRead ?? 0,
    outputTokens,
    firstTokenMs: times.firstMs === null ? null : times.firstMs - times.startedMs,
    tokensPerSecond: decodeMs > 0 && outputTokens > 0 ? (outputTokens / decodeMs) * 1_000 : null,
    totalMs: times.endMs - times.startedMs,
    where: job.model.where,
  };
}

function counted(promptTokens: number, pieces: number): LanguageModelV4Usage {
  return {
    inputTokens: { total: promptTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: pieces, text: pieces, reasoning: undefined },
  };
}

function isProgress(value: unknown): value is ModelProgress {
  return typeof value === 'object' && value !== null && 'kind' in value && (value.kind === 'loading' || value.kind === 'prefill');
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

function clamp(fraction: number): number {
  return Math.min(1, Math.max(0, fraction));
}
