import { createContext, Script } from 'node:vm';
import { AppError } from '../../shared/errors/appError.ts';
import { type JinjaEnvironment, jinja } from './jinja.ts';

/** A template comes with a file from anywhere: it may loop, grow and nest as it likes. */
export const templateLimits = {
  /** The longest in the wild are about 20 kB. */
  sourceBytes: 256 * 1024,
  /** Contents are placeholders while it renders, so this is template text. */
  outputCharacters: 1024 * 1024,
  rangeLength: 10_000,
  ms: 1_000,
} as const;

export type TemplateMessage = { readonly role: string; readonly content: string };

export type ChatTemplate = {
  /** @throws AppError TEMPLATE_REJECTED {reason}: it raised an error, ran too long or grew too large. */
  render(messages: readonly TemplateMessage[]): string;
};

/**
 * Parses a Jinja chat template and renders it within bounds of time and size; deep nesting ends in a stack error, which is caught.
 *
 * @param tokens  spellings that templates print: `bos_token`, `eos_token`.
 * @throws AppError TEMPLATE_REJECTED {reason}.
 */
export function createChatTemplate(source: string, tokens: { readonly bos: string; readonly eos: string }): ChatTemplate {
  if (Buffer.byteLength(source) > templateLimits.sourceBytes) throw rejected('too long');
  const template = bounded(() => new jinja.Template(source), 'cannot be read');
  return {
    render(messages) {
      const text = bounded(() => {
        const environment = createEnvironment();
        environment.set(
          'messages',
          messages.map((message) => ({ role: message.role, content: message.content })),
        );
        environment.set('add_generation_prompt', true);
        environment.set('bos_token', tokens.bos);
        environment.set('eos_token', tokens.eos);
        const { value } = new jinja.Interpreter(environment).run(template.parsed);
        return typeof value === 'string' ? value : '';
      }, 'failed while rendering');
      if (text.length > templateLimits.outputCharacters) throw rejected('output too large');
      return text;
    },
  };
}

function rejected(reason: string, cause?: unknown): AppError {
  return new AppError('TEMPLATE_REJECTED', { reason }, { cause });
}

/** Runs code under a deadline that also ends a loop: the timer of `vm` stops whatever runs below it. */
function bounded<T>(work: () => T, otherwise: string): T {
  let result: { value: T } | undefined;
  const sandbox = createContext({
    work: () => {
      result = { value: work() };
    },
  });
  try {
    new Script('work()').runInContext(sandbox, { timeout: templateLimits.ms });
  } catch (error) {
    if (error instanceof AppError) throw error;
    // The deadline's error is of the sandbox's realm: `instanceof` does not know it.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw rejected('ran too long', error);
    // What a template says in raise_exception may repeat the conversation, so it stays here.
    throw rejected(error instanceof RangeError ? 'too deep or too large' : otherwise, error);
  }
  if (result === undefined) throw rejected(otherwise);
  return result.value;
}

/** The globals that chat templates expect, as `Template.render` sets them, but with a `range` that refuses before it fills the memory. */
function createEnvironment(): JinjaEnvironment {
  const environment = new jinja.Environment();
  for (const [name, value] of [
    ['true', true],
    ['True', true],
    ['false', false],
    ['False', false],
    ['none', null],
    ['None', null],
  ] as const) {
    environment.set(name, value);
  }
  environment.set('raise_exception', (message: string) => {
    throw new Error(message);
  });
  environment.set('range', boundedRange);
  environment.set('strftime_now', strftimeNow);
  return environment;
}

function boundedRange(start: number, stop?: number, step?: number): number[] {
  const [from, to, by] = typeof stop === 'number' ? [start, stop, typeof step === 'number' ? step : 1] : [0, start, 1];
  const length = Math.ceil((to - from) / by);
  if (!Number.isFinite(length) || length > templateLimits.rangeLength) throw rejected('range too long');
  return Array.from({ length: Math.max(0, length) }, (_, i) => from + i * by);
}

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

/** Python's names whatever the machine's language: it is model input, not a text for people. */
function strftimeNow(format: string): string {
  const now = new Date();
  const month = months[now.getMonth()] ?? '';
  const two = (n: number) => String(n).padStart(2, '0');
  const values: Readonly<Record<string, string>> = {
    Y: String(now.getFullYear()),
    m: two(now.getMonth() + 1),
    d: two(now.getDate()),
    b: month.slice(0, 3),
    B: month,
    H: two(now.getHours()),
    M: two(now.getMinutes()),
    '%': '%',
  };
  return format.replace(/%([YmdbBHM%])/g, (_, letter: string) => values[letter] ?? '');
}
