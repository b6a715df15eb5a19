import type { TurnId } from '../../shared/domain/ids.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { LanguageModelV4Prompt } from '../inference/languageModel.ts';
import type { HistoryRow } from '../store/turnRows.ts';

/** One earlier turn as the model reads it again. */
export type Exchange = { readonly turnId: TurnId; readonly sequence: number; readonly messages: readonly Spoken[] };
type Spoken = { readonly role: 'user' | 'assistant'; readonly text: string; readonly at: string };

export type Trim = {
  readonly messagesLeftOut: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly fromSequence: number;
};

export type BuiltContext = {
  readonly prompt: LanguageModelV4Prompt;
  readonly tokens: number;
  /** What the answer may take at most. */
  readonly room: number;
  /** Set when this call leaves out more than the last one did. */
  readonly trim: Trim | null;
};

/** Answer reserve by context size (section 12): the prompt may not grow into it. Smaller contexts keep the share of the smallest one. */
export function answerReserve(contextSize: number): number {
  if (contextSize < 4_096) return Math.floor((contextSize * 768) / 4_096);
  if (contextSize < 8_192) return 768;
  if (contextSize < 16_384) return 1_024;
  return contextSize < 32_768 ? 2_048 : 4_096;
}

/**
 * When older text has to go, more goes than needed: leaving out one exchange per turn would change the beginning of the prompt each
 * time, and the engine would read all of it again each time (CX-01).
 */
const keptShare = 0.7;

/** Groups rows (newest first, as the store gives them) into exchanges, oldest first. */
export function exchangesOf(rows: readonly HistoryRow[]): Exchange[] {
  const exchanges: { turnId: TurnId; sequence: number; messages: Spoken[] }[] = [];
  for (const row of [...rows].reverse()) {
    if (row.role === 'system') continue;
    let last = exchanges.at(-1);
    if (last?.turnId !== row.turn_id) {
      last = { turnId: row.turn_id, sequence: row.sequence, messages: [] };
      exchanges.push(last);
    }
    last.messages.push({ role: row.role, text: row.heard === null ? row.text : heardPart(row.text, row.heard), at: row.created_at });
  }
  return exchanges;
}

/** MP-07: of a spoken answer that was interrupted the model reads what was heard, and that there was more. */
function heardPart(text: string, units: number): string {
  if (units >= text.trimEnd().length) return text;
  const heard = text.slice(0, units).toWellFormed().trimEnd();
  return heard === '' ? '(I was interrupted before anything was heard.)' : `${heard} … (I was interrupted; the rest was not heard.)`;
}

/**
 * The prompt of one call: system, earlier exchanges, the newest message (CX-01). Equal input gives equal bytes (CX-02): it depends on
 * its arguments and on the engine's count alone. Exchanges stay whole.
 *
 * @param exchanges  oldest first.
 * @param dated      puts date and time to a message of a person.
 * @param leftOut    messages older than `exchanges` that were not even read.
 * @param count      tokens of a rendered prompt, from the loaded engine.
 * @throws AppError CONTEXT_OVERFLOW when system and newest message alone leave no room for an answer (CX-03).
 */
export async function buildContext(input: {
  system: string;
  exchanges: readonly Exchange[];
  leftOut: number;
  newest: { text: string; at: string; sequence: number };
  contextSize: number;
  dated: (text: string, at: string) => string;
  count: (prompt: LanguageModelV4Prompt) => Promise<number>;
}): Promise<BuiltContext> {
  const { system, exchanges, newest, contextSize, dated, count } = input;
  const budget = contextSize - answerReserve(contextSize);
  const promptOf = (kept: number) => render(system, kept === 0 ? [] : exchanges.slice(-kept), newest, dated);
  const whole = promptOf(exchanges.length);
  const wholeTokens = await count(whole);
  if (wholeTokens <= budget && input.leftOut === 0)
    return { prompt: whole, tokens: wholeTokens, room: contextSize - wholeTokens, trim: null };

  const alone = exchanges.length === 0 ? wholeTokens : await count(promptOf(0));
  if (alone > budget) throw new AppError('CONTEXT_OVERFLOW', { tokens: alone, contextSize });
  // The largest number of newest exchanges within the share; tokens grow with the number, so halving finds it.
  const target = Math.max(alone, Math.floor(budget * keptShare));
  let kept = 0;
  let tokens = alone;
  for (let low = 1, high = exchanges.length; low <= high; ) {
    const middle = (low + high) >> 1;
    const counted = middle === exchanges.length ? wholeTokens : await count(promptOf(middle));
    if (counted <= target) {
      kept = middle;
      tokens = counted;
      low = middle + 1;
    } else high = middle - 1;
  }
  // The last exchange is worth more than the margin.
  if (kept === 0 && exchanges.length > 0) {
    const counted = await count(promptOf(1));
    if (counted <= budget) [kept, tokens] = [1, counted];
  }
  const gone = exchanges.slice(0, exchanges.length - kept);
  return {
    prompt: promptOf(kept),
    tokens,
    room: contextSize - tokens,
    trim: {
      messagesLeftOut: input.leftOut + gone.reduce((sum, exchange) => sum + exchange.messages.length, 0),
      tokensBefore: wholeTokens,
      tokensAfter: tokens,
      fromSequence: exchanges[exchanges.length - kept]?.sequence ?? newest.sequence,
    },
  };
}

/** Roles alternate: neighbours of one role (a question that got no answer, and the next one) become one message, as templates demand. */
function render(
  system: string,
  exchanges: readonly Exchange[],
  newest: { text: string; at: string },
  dated: (text: string, at: string) => string,
): LanguageModelV4Prompt {
  const spoken: { role: 'user' | 'assistant'; text: string }[] = [];
  const say = (role: 'user' | 'assistant', text: string) => {
    const last = spoken.at(-1);
    if (last?.role === role) last.text += `\n\n${text}`;
    else if (role === 'user' || last !== undefined) spoken.push({ role, text });
  };
  for (const { messages } of exchanges) for (const { role, text, at } of messages) say(role, role === 'user' ? dated(text, at) : text);
  say('user', dated(newest.text, newest.at));
  return [
    { role: 'system', content: system },
    ...spoken.map(({ role, text }): LanguageModelV4Prompt[number] => ({ role, content: [{ type: 'text', text }] })),
  ];
}
