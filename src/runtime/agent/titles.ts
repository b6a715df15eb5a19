import type { SessionId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import type { Usage } from '../../shared/domain/session.ts';
import { isAppError, toAppError } from '../../shared/errors/appError.ts';
import { detach } from '../../shared/util/detach.ts';
import type { LanguageModelV4Prompt } from '../inference/languageModel.ts';
import { isStoreFault } from '../store/guard.ts';
import type { HistoryRow } from '../store/turnRows.ts';
import { instructionsOf } from './assistant.ts';
import { dated } from './dateLine.ts';
import type { Kernel } from './kernel.ts';

const ask = 'Write a title of two to six words for this conversation. Write only the title.';
const maxTokens = 24;
const timeoutMs = 20_000;
/** Characters of the exchange that the title is made from, and of the title itself (shorter than SE-15 allows: it stands in a list). */
const exchangeCharacters = 2_000;
const titleCharacters = 60;
const maxWords = 8;

export type Titles = {
  /** After a turn completed: names the session if nobody has (SE-10). @param afterMs  not sooner. */
  consider(sessionId: SessionId, afterMs?: number): void;
  /** The model may be free again. */
  go(): void;
  /** A turn wants the model: the title waits for its end. */
  yield(): void;
  close(): Promise<void>;
};

/**
 * Titles by an out-of-band completion: no turn, no history, its own usage record. It never delays a turn; when it fails or says nothing
 * useful, the first words of the question are the title.
 */
export function createTitles(kernel: Kernel, busy: () => boolean): Titles {
  const { store, clock, log, events, turns } = kernel;
  let current: { controller: AbortController; done: Promise<void> } | null = null;
  const waiting: SessionId[] = [];

  function next(): void {
    if (current !== null || busy() || kernel.closing.aborted) return;
    const sessionId = waiting.shift();
    if (sessionId === undefined) return;
    const controller = new AbortController();
    const done = make(sessionId, controller.signal).finally(() => {
      current = null;
      next();
    });
    current = { controller, done };
    detach(done, log, 'agent.title');
  }

  async function make(sessionId: SessionId, signal: AbortSignal): Promise<void> {
    const session = store.read(() => kernel.sessions.get(sessionId));
    if (session === undefined || session.title !== null || session.title_by !== null) return;
    const rows = store.read(() => turns.historyBefore(session.no, session.last_sequence + 1, 0, 8)).reverse();
    const question = rows.find((row) => row.role === 'user')?.text ?? '';
    let title: string | null = null;
    try {
      title = await complete(sessionId, instructionsOf(kernel.agents, session.revision_id), rows, signal);
    } catch (error) {
      if (!signal.aborted) log.info('agent.titleFailed', { code: toAppError(error).code });
    }
    if (signal.aborted) {
      if (!kernel.closing.aborted) waiting.push(sessionId);
      return;
    }
    name(sessionId, title ?? firstWords(question));
  }

  async function complete(sessionId: SessionId, system: string, rows: readonly HistoryRow[], signal: AbortSignal): Promise<string | null> {
    const model = kernel.models.current();
    const exchange = rows.slice(0, 2);
    if (model === null || exchange.length < 2 || exchange.some((row) => row.text.length > exchangeCharacters)) return null;
    const deadline = new AbortController();
    const takeBack = clock.setTimer(timeoutMs, () => deadline.abort());
    const startedMs = clock.monotonicMs();
    try {
      // The exchange as the turn had it, so that the engine's cache of it still holds, now and for the next turn.
      const prompt: LanguageModelV4Prompt = [
        { role: 'system', content: system },
        ...exchange.map((row, index): LanguageModelV4Prompt[number] => ({
          role: row.role === 'assistant' ? 'assistant' : 'user',
          content: [{ type: 'text', text: index === 0 ? dated(row.text, () => kernel.localTime(Date.parse(row.created_at))) : row.text }],
        })),
        { role: 'user', content: [{ type: 'text', text: ask }] },
      ];
      const result = await model.doGenerate({
        prompt,
        maxOutputTokens: maxTokens,
        temperature: 0,
        abortSignal: AbortSignal.any([signal, deadline.signal, kernel.closing]),
      });
      if (signal.aborted) return null;
      const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      record(sessionId, {
        model: model.modelId,
        promptTokens: result.usage.inputTokens.total ?? 0,
        reusedTokens: result.usage.inputTokens.cacheRead ?? 0,
        outputTokens: result.usage.outputTokens.total ?? 0,
        firstTokenMs: null,
        tokensPerSecond: null,
        totalMs: clock.monotonicMs() - startedMs,
        where: model.where,
      });
      return cleanTitle(
        text,
        exchange.map((row) => row.text),
      );
    } finally {
      takeBack();
    }
  }

  function record(sessionId: SessionId, usage: Usage): void {
    quietly(() => events.append(sessionId, [{ type: 'llm.generation', data: { purpose: 'title', usage } }]));
  }

  function name(sessionId: SessionId, title: string): void {
    if (title === '') return;
    quietly(() =>
      store.write(() => {
        const session = kernel.sessions.get(sessionId);
        // The owner may have named it while the model was thinking.
        if (session === undefined || session.title !== null || session.title_by !== null) return;
        events.append(sessionId, [{ type: 'session.updated', data: { by: 'model', changed: { title: { from: null, to: title } } } }]);
      }),
    );
  }

  function quietly(write: () => unknown): void {
    try {
      write();
    } catch (error) {
      if (!isStoreFault(error) && !isAppError(error, 'SESSION_NOT_FOUND')) throw error;
    }
  }

  function consider(sessionId: SessionId, afterMs = 0): void {
    if (kernel.closing.aborted) return;
    if (afterMs > 0) {
      clock.setTimer(afterMs, () => consider(sessionId));
      return;
    }
    const session = store.read(() => kernel.sessions.get(sessionId));
    if (session !== undefined && session.title === null && session.title_by === null && !waiting.includes(sessionId))
      waiting.push(sessionId);
    next();
  }

  return {
    consider,
    go: next,
    yield() {
      current?.controller.abort();
    },
    async close() {
      waiting.length = 0;
      current?.controller.abort();
      await current?.done.catch(() => undefined);
    },
  };
}

/**
 * What a model wrote as a title, or null when it is none: small models answer the question again or talk about titles.
 *
 * @param exchange  question and answer; a title has to share a word with them, and not just repeat one.
 */
export function cleanTitle(text: string, exchange: readonly string[]): string | null {
  const line = text
    .trim()
    .split('\n', 1)
    .join('')
    .replace(/^(title|titel)\s*[:-]\s*/i, '')
    .replace(/^["'“”„«*#\s]+|["'“”»*\s.:]+$/g, '')
    .replaceAll(/\s+/g, ' ');
  const words = wordsOf(line);
  if (words.length === 0 || words.length > maxWords || line.length > titleCharacters) return null;
  if (exchange.some((said) => said.trim().toLowerCase().startsWith(line.toLowerCase()))) return null;
  const known = new Set(wordsOf(exchange.join(' ')));
  return words.some((word) => word.length > 3 && known.has(word)) ? line : null;
}

/** The beginning of the question, cut between words. */
export function firstWords(question: string): string {
  const line = question.trim().replaceAll(/\s+/g, ' ').slice(0, limits.titleCharacters);
  if (line.length <= titleCharacters) return line;
  const cut = line.slice(0, titleCharacters);
  const at = cut.lastIndexOf(' ');
  return `${(at > titleCharacters / 2 ? cut.slice(0, at) : cut).toWellFormed().replace(/\uFFFD$/, '')}…`;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
