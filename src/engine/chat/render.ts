import { randomBytes } from 'node:crypto';
import { AppError, isAppError } from '../../shared/errors/appError.ts';
import type { ChatMessage } from '../contract/language.ts';
import type { ChatTemplate } from './template.ts';

/** A stretch of a rendered prompt. `template` text may hold control tokens, `content` is what somebody wrote and may not. */
export type PromptPiece = { readonly from: 'template' | 'content'; readonly text: string };

export type SystemRole = 'template' | 'merged';

export type ChatRenderer = {
  readonly systemRole: SystemRole;
  /** Stop texts that the form of the prompt needs, besides the caller's. */
  readonly stops: readonly string[];
  /** The prompt in order, ending where the assistant's reply begins. @throws AppError TEMPLATE_REJECTED. */
  render(messages: readonly ChatMessage[]): PromptPiece[];
};

// A white space that no template prints: whether it survives around a placeholder says whether the template trims.
const EDGE = '\u000b';

/**
 * Renders with placeholders instead of contents and puts the contents back afterwards, so that a spelling like `<|im_end|>` in a
 * message never meets the part of the tokenizer that reads control tokens (models facts, section 2).
 *
 * @throws AppError TEMPLATE_REJECTED if the template renders not even one user message.
 */
export function createTemplateRenderer(template: ChatTemplate): ChatRenderer {
  const systemRole = probeSystemRole(template);
  return {
    systemRole,
    stops: [],
    render: (messages) => renderPieces(template, systemRole === 'merged' ? mergeSystem(messages) : messages),
  };
}

/**
 * For files without a template, which are mostly base models: a plain transcript, which they continue well enough, ended by the next
 * speaker's name. Refusing them would make them useless; `hasTemplate: false` lets the screen say what they are.
 */
export function createPlainRenderer(): ChatRenderer {
  const names = { system: '', user: 'User: ', assistant: 'Assistant: ' } as const;
  return {
    systemRole: 'template',
    stops: ['\nUser:', '\nAssistant:'],
    render(messages) {
      const pieces: PromptPiece[] = [];
      for (const message of messages) {
        pieces.push({ from: 'template', text: names[message.role] }, { from: 'content', text: message.content });
        pieces.push({ from: 'template', text: '\n\n' });
      }
      return joined([...pieces, { from: 'template', text: 'Assistant:' }]);
    },
  };
}

/** System texts become the beginning of the first user turn (BC-09). @throws AppError TEMPLATE_REJECTED if there is no user turn. */
export function mergeSystem(messages: readonly ChatMessage[]): ChatMessage[] {
  const system = messages.filter((message) => message.role === 'system').map((message) => message.content);
  const rest = messages.filter((message) => message.role !== 'system');
  if (system.length === 0) return rest;
  const first = rest.findIndex((message) => message.role === 'user');
  if (first < 0) throw new AppError('TEMPLATE_REJECTED', { reason: 'no system role and no user turn to carry the system text' });
  return rest.map((message, i) => (i === first ? { ...message, content: [...system, message.content].join('\n\n') } : message));
}

function probeSystemRole(template: ChatTemplate): SystemRole {
  const user: ChatMessage = { role: 'user', content: 'u' };
  // Throws when the template is of no use at all.
  renderPieces(template, [user]);
  try {
    const pieces = renderPieces(template, [{ role: 'system', content: 's' }, user]);
    // Some templates raise an error for a system message, others leave it out without a word.
    return pieces.some((piece) => piece.from === 'content' && piece.text === 's') ? 'template' : 'merged';
  } catch (error) {
    if (isAppError(error, 'TEMPLATE_REJECTED')) return 'merged';
    throw error;
  }
}

function renderPieces(template: ChatTemplate, messages: readonly ChatMessage[]): PromptPiece[] {
  // Fresh for each rendering: nobody can write one down beforehand.
  const key = randomBytes(8).toString('hex');
  const rendered = template.render(messages.map((message, i) => ({ role: message.role, content: `${EDGE}[${key}:${i}]${EDGE}` })));
  const pieces: PromptPiece[] = [];
  const pattern = new RegExp(`(${EDGE}?)\\[${key}:(\\d+)\\](${EDGE}?)`, 'g');
  let end = 0;
  for (const match of rendered.matchAll(pattern)) {
    const content = messages[Number(match[2])]?.content ?? '';
    const left = match[1] === '' ? content.trimStart() : content;
    pieces.push({ from: 'template', text: rendered.slice(end, match.index) });
    pieces.push({ from: 'content', text: match[3] === '' ? left.trimEnd() : left });
    end = match.index + match[0].length;
  }
  return joined([...pieces, { from: 'template', text: rendered.slice(end) }]);
}

function joined(pieces: readonly PromptPiece[]): PromptPiece[] {
  const out: PromptPiece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (piece.text === '') continue;
    // Contents stay apart from each other only through template text; two template pieces are one text to the tokenizer.
    if (last !== undefined && last.from === piece.from && piece.from === 'template')
      out[out.length - 1] = { from: 'template', text: last.text + piece.text };
    else out.push(piece);
  }
  return out;
}
