import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { AppError } from '../../shared/errors/appError.ts';
import type { LogField, Logger } from './ports.ts';

/** Two files of this size at most: the present one and the one before. */
export const logLimits = { fileBytes: 4 * 1024 * 1024, fieldCharacters: 200, stackFrames: 12 } as const;

export type LogSink = { write(line: string): void; close(): void };

/**
 * The structured log (PV-14): an event name and plain fields, one JSON object a line. Names that could hold user text, prompts, secrets
 * or paths are redacted, long values are cut, and of a foreign error only its class, system code and code positions inside our own
 * sources are written: its message may quote what a person typed.
 */
export function createLogger(sink: LogSink, nowMs: () => number): Logger {
  const log = pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date(nowMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    { write: (line: string) => sink.write(line) },
  );
  const fieldsOf = (event: string, fields: Readonly<Record<string, LogField>> = {}, cause?: unknown) => {
    const out: Record<string, unknown> = { event };
    for (const [name, value] of Object.entries(fields)) out[name] = typeof value === 'string' ? clean(value) : value;
    return cause === undefined ? out : { ...out, cause: describe(cause) };
  };
  return {
    info: (event, fields) => log.info(fieldsOf(event, fields)),
    warn: (event, fields) => log.warn(fieldsOf(event, fields)),
    error: (event, fields, cause) => log.error(fieldsOf(event, fields, cause)),
  };
}

const redacted = [
  'text',
  'prompt',
  'content',
  'message',
  'title',
  'query',
  'draft',
  'path',
  'file',
  'url',
  'token',
  'secret',
  'authorization',
  'cookie',
  'code_',
];

/** A value that looks like a place on this machine never enters the log, whatever its field is called. */
function clean(value: string): string {
  if (/(^|[\s"'=(])(~?\/|[A-Za-z]:\\|\\\\)[^\s/\\]/.test(value)) return '[path]';
  return value.length > logLimits.fieldCharacters ? `${value.slice(0, logLimits.fieldCharacters)}…` : value;
}

function describe(cause: unknown): Record<string, unknown> {
  if (cause instanceof AppError)
    return { name: cause.name, code: cause.code, ...(cause.cause === undefined ? {} : { cause: describe(cause.cause) }) };
  if (!(cause instanceof Error)) return { name: typeof cause };
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code.slice(0, 64) : undefined;
  return { name: cause.name.slice(0, 64), ...(code === undefined ? {} : { code }), at: frames(cause.stack) };
}

/** `function (file:line:column)` of our own code, folders cut off. The first stack line, the message, is never used. */
function frames(stack: string | undefined): string[] {
  const found: string[] = [];
  for (const match of (stack ?? '').matchAll(
    /^ {4}at (?:async )?(?:(?<name>[\w.$<>]+) \()?(?:file:\/\/)?[^\s()]*?(?<file>[\w.-]+:\d+:\d+)\)?$/gm,
  )) {
    found.push(`${match.groups?.name ?? ''} ${match.groups?.file ?? ''}`.trim());
    if (found.length === logLimits.stackFrames) break;
  }
  return found;
}

/**
 * Appends to `sotto.log` in the logs folder; when it is full it becomes `sotto.1.log`. A log that cannot be written is dropped: logging
 * never takes the product down.
 *
 * @param folder  made at the first line if it is missing.
 * @param echo    also writes each line to stderr (the command line, development).
 */
export function createFileSink(folder: string, options: { name?: string; echo?: boolean; maxBytes?: number } = {}): LogSink {
  const name = options.name ?? 'sotto';
  const maxBytes = options.maxBytes ?? logLimits.fileBytes;
  const file = join(folder, `${name}.log`);
  let handle: number | null = null;
  let bytes = 0;
  const open = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    handle = openSync(file, 'a', 0o600);
    bytes = fstatSync(handle).size;
  };
  const close = () => {
    if (handle !== null) closeSync(handle);
    handle = null;
  };
  return {
    write(line) {
      if (options.echo === true) process.stderr.write(line);
      try {
        if (handle === null) open();
        if (bytes >= maxBytes) {
          close();
          const older = join(folder, `${name}.1.log`);
          rmSync(older, { force: true });
          renameSync(file, older);
          open();
        }
        if (handle !== null) bytes += writeSync(handle, line);
      } catch {
        close();
      }
    },
    close,
  };
}

/** Lines to stderr alone: tools of the project that have no data folder. */
export function createStderrSink(): LogSink {
  return { write: (line) => void process.stderr.write(line), close: () => {} };
}
