import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './io.ts';

export type Level = 'error' | 'warn' | 'info';

export type ServeOptions = {
  readonly host: string;
  readonly port: number;
  readonly auth: boolean;
  readonly allowRemote: boolean;
  readonly allowedHosts: readonly string[];
  readonly offline: boolean;
  readonly logLevel: Level;
  readonly json: boolean;
  readonly data: string | undefined;
};

export type Command =
  | { readonly name: 'help'; readonly topic: string | null }
  | { readonly name: 'version' }
  | ({ readonly name: 'serve' } & ServeOptions)
  | { readonly name: 'keys'; readonly action: 'code' | 'list'; readonly common: Common }
  | { readonly name: 'keys'; readonly action: 'create'; readonly keyName: string; readonly common: Common }
  | { readonly name: 'keys'; readonly action: 'revoke'; readonly keyId: string; readonly common: Common }
  | { readonly name: 'models'; readonly action: 'list'; readonly common: Common }
  | { readonly name: 'models'; readonly action: 'pull'; readonly modelId: string; readonly common: Common }
  | { readonly name: 'ask'; readonly text: string; readonly common: Common }
  | { readonly name: 'transcribe'; readonly file: string; readonly common: Common }
  | { readonly name: 'converse'; readonly file: string; readonly out: string; readonly common: Common }
  | {
      readonly name: 'say';
      readonly text: string;
      readonly out: string;
      readonly voiceId: string | undefined;
      readonly speed: number;
      readonly common: Common;
    };

export type Common = { readonly json: boolean; readonly data: string | undefined; readonly offline: boolean; readonly logLevel: Level };

type Env = Readonly<Record<string, string | undefined>>;
type Flags = NonNullable<ParseArgsConfig['options']>;

const commonFlags = {
  data: { type: 'string' },
  json: { type: 'boolean' },
  offline: { type: 'boolean' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Flags;

const serveFlags = {
  ...commonFlags,
  host: { type: 'string' },
  port: { type: 'string' },
  'no-auth': { type: 'boolean' },
  'allow-remote': { type: 'boolean' },
  'allowed-host': { type: 'string', multiple: true },
} as const satisfies Flags;

/**
 * A command line as a command. Flags beat the environment, the environment beats the defaults (SV-03).
 *
 * @param argv  without the program's name.
 * @param warn  told of a variable with a value that cannot be; the default then counts.
 * @throws UsageError for anything that is not understood, before anything is opened.
 */
export function parseCommand(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const [first, ...rest] = argv;
  if (first === undefined || first === '--help' || first === '-h') return { name: 'help', topic: null };
  if (first === '--version' || first === '-v') return { name: 'version' };
  switch (first) {
    case 'help':
      return { name: 'help', topic: rest[0] ?? null };
    case 'serve':
      return parseServe(rest, env, warn);
    case 'keys':
      return parseKeys(rest, env, warn);
    case 'models':
      return parseModels(rest, env, warn);
    case 'ask':
    case 'chat':
      return parseAsk(rest, env, warn);
    case 'transcribe':
      return parseTranscribe(rest, env, warn);
    case 'say':
      return parseSay(rest, env, warn);
    case 'converse':
      return parseConverse(rest, env, warn);
    default:
      throw new UsageError(first.startsWith('-') ? `There is no option ${quoted(first)}.` : `There is no command ${quoted(first)}.`);
  }
}

function parseServe(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, serveFlags);
  if (values.help === true) return { name: 'help', topic: 'serve' };
  if (positionals.length > 0) throw new UsageError(`serve takes no ${quoted(positionals[0] ?? '')}.`);
  const common = commonOf(values, env, warn);
  const hosts = values['allowed-host'] ?? listOf(env.SOTTO_ALLOWED_HOSTS);
  for (const host of hosts)
    if (!/^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(host)) throw new UsageError(`--allowed-host wants a name or name:port, not ${quoted(host)}.`);
  return {
    name: 'serve',
    ...common,
    host: values.host ?? nonEmpty(env.SOTTO_HOST) ?? '127.0.0.1',
    port: portOf(values.port, env.SOTTO_PORT, warn),
    auth: values['no-auth'] !== true,
    allowRemote: values['allow-remote'] === true,
    allowedHosts: hosts,
  };
}

function parseKeys(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, { ...commonFlags, name: { type: 'string' } });
  if (values.help === true) return { name: 'help', topic: 'keys' };
  const common = commonOf(values, env, warn);
  const [action, id, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`keys takes no ${quoted(more[0] ?? '')}.`);
  if (values.name !== undefined && action !== 'create') throw new UsageError('--name belongs to keys create.');
  if (action === 'revoke') {
    if (id === undefined) throw new UsageError('keys revoke wants the id of a key; `sotto keys list` shows them.');
    return { name: 'keys', action, keyId: id, common };
  }
  if (id !== undefined) throw new UsageError(`keys takes no ${quoted(id)}.`);
  if (action === 'create') {
    const keyName = (values.name ?? 'key').trim();
    if (keyName === '' || keyName.length > 100) throw new UsageError('--name wants 1 to 100 characters.');
    return { name: 'keys', action, keyName, common };
  }
  if (action === 'code' || action === 'list') return { name: 'keys', action, common };
  throw new UsageError(action === undefined ? 'keys wants one of: code, list, create, revoke.' : `There is no keys ${quoted(action)}.`);
}

function parseModels(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, commonFlags);
  if (values.help === true) return { name: 'help', topic: 'models' };
  const common = commonOf(values, env, warn);
  const [action, id, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`models takes no ${quoted(more[0] ?? '')}.`);
  if (action === 'pull') {
    if (id === undefined) throw new UsageError('models pull wants the id of a model; `sotto models list` shows them.');
    return { name: 'models', action, modelId: id, common };
  }
  if (id !== undefined) throw new UsageError(`models list takes no ${quoted(id)}.`);
  if (action === 'list') return { name: 'models', action, common };
  throw new UsageError(action === undefined ? 'models wants one of: list, pull.' : `There is no models ${quoted(action)}.`);
}

function parseAsk(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, commonFlags);
  if (values.help === true) return { name: 'help', topic: 'ask' };
  const text = positionals.join(' ').trim();
  if (text === '') throw new UsageError('ask wants a question, in quotes.');
  return { name: 'ask', text, common: commonOf(values, env, warn) };
}

function parseTranscribe(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, commonFlags);
  if (values.help === true) return { name: 'help', topic: 'transcribe' };
  const [file, ...more] = positionals;
  if (file === undefined || file === '' || more.length > 0) throw new UsageError('transcribe wants one WAV file.');
  return { name: 'transcribe', file, common: commonOf(values, env, warn) };
}

function parseSay(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, {
    ...commonFlags,
    out: { type: 'string', short: 'o' },
    voice: { type: 'string' },
    speed: { type: 'string' },
  });
  if (values.help === true) return { name: 'help', topic: 'say' };
  const text = positionals.join(' ').trim();
  if (text === '') throw new UsageError('say wants a text, in quotes.');
  if (values.out === undefined || values.out === '') throw new UsageError('say wants --out with the name of the file to write.');
  const speed = Number(values.speed ?? '1');
  if (!(speed >= 0.5 && speed <= 2)) throw new UsageError(`--speed wants a number from 0.5 to 2, not ${quoted(values.speed ?? '')}.`);
  return { name: 'say', text, out: values.out, voiceId: nonEmpty(values.voice), speed, common: commonOf(values, env, warn) };
}

function parseConverse(argv: readonly string[], env: Env, warn: (text: string) => void): Command {
  const { values, positionals } = read(argv, { ...commonFlags, in: { type: 'string', short: 'i' }, out: { type: 'string', short: 'o' } });
  if (values.help === true) return { name: 'help', topic: 'converse' };
  if (positionals.length > 0) throw new UsageError(`converse takes no ${quoted(positionals[0] ?? '')}.`);
  const file = nonEmpty(values.in);
  const out = nonEmpty(values.out);
  if (file === undefined) throw new UsageError('converse wants --in with a WAV file of the question.');
  if (out === undefined) throw new UsageError('converse wants --out with the name of the file to write.');
  return { name: 'converse', file, out, common: commonOf(values, env, warn) };
}

function read<F extends Flags>(argv: readonly string[], options: F) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? error.message).replace(/\.?$/, '.') : 'Not understood.');
  }
}

function commonOf(
  values: { data?: string | undefined; json?: boolean | undefined; offline?: boolean | undefined; 'log-level'?: string | undefined },
  env: Env,
  warn: (text: string) => void,
): Common {
  if (values.data === '') throw new UsageError('--data wants a folder.');
  return {
    json: values.json === true,
    data: values.data ?? nonEmpty(env.SOTTO_DATA_DIR),
    offline: values.offline ?? booleanOf('SOTTO_OFFLINE', env.SOTTO_OFFLINE, warn),
    logLevel: levelOf(values['log-level'], env.SOTTO_LOG, warn),
  };
}

function portOf(flag: string | undefined, variable: string | undefined, warn: (text: string) => void): number {
  const parse = (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null);
  if (flag !== undefined) {
    const port = parse(flag);
    if (port === null) throw new UsageError(`--port wants a number from 0 to 65535, not ${quoted(flag)}.`);
    return port;
  }
  const set = nonEmpty(variable);
  const port = set === undefined ? null : parse(set);
  if (set !== undefined && port === null) warn('SOTTO_PORT is no number from 0 to 65535: using 17717.');
  return port ?? 17717;
}

const levels: readonly Level[] = ['error', 'warn', 'info'];

function levelOf(flag: string | undefined, variable: string | undefined, warn: (text: string) => void): Level {
  const parse = (text: string) => levels.find((level) => level === text) ?? null;
  if (flag !== undefined) {
    const level = parse(flag);
    if (level === null) throw new UsageError(`--log-level wants one of ${levels.join(', ')}, not ${quoted(flag)}.`);
    return level;
  }
  const set = nonEmpty(variable);
  const level = set === undefined ? null : parse(set);
  if (set !== undefined && level === null) warn(`SOTTO_LOG is none of ${levels.join(', ')}: using info.`);
  return level ?? 'info';
}

function booleanOf(name: string, variable: string | undefined, warn: (text: string) => void): boolean {
  const set = nonEmpty(variable);
  if (set === undefined || set === '0' || set === 'false') return false;
  if (set === '1' || set === 'true') return true;
  warn(`${name} is neither 1 nor 0: using 0.`);
  return false;
}

const nonEmpty = (text: string | undefined) => (text === undefined || text === '' ? undefined : text);
const listOf = (text: string | undefined) => (text ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
const quoted = (text: string) => `'${text.replace(/[^\x20-\x7e]/g, '?').slice(0, 60)}'`;
