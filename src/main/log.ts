export type LogField = string | number | boolean | null;

/** Event names and plain fields; no user text and no path of the user (PV-14). */
export type MainLog = {
  info(event: string, fields?: Readonly<Record<string, LogField>>): void;
  warn(event: string, fields?: Readonly<Record<string, LogField>>): void;
  error(event: string, fields?: Readonly<Record<string, LogField>>, cause?: unknown): void;
};

/** pino's numbers. pino itself needs a newer Node than the oldest Electron has, so main writes these few lines in its shape. */
const levels = { info: 30, warn: 40, error: 50 } as const;

/**
 * @param write  takes one line with its line end.
 */
export function createLog(write: (line: string) => void, now: () => number): MainLog {
  const put = (level: keyof typeof levels, event: string, fields: Readonly<Record<string, LogField>>) =>
    write(`${JSON.stringify({ level: levels[level], time: now(), name: 'main', event, ...fields })}\n`);
  return {
    info: (event, fields = {}) => put('info', event, fields),
    warn: (event, fields = {}) => put('warn', event, fields),
    // The text of a foreign error may hold a path: only its name and code go into the log.
    error: (event, fields = {}, cause) => put('error', event, { ...fields, ...describe(cause) }),
  };
}

function describe(cause: unknown): Record<string, LogField> {
  if (!(cause instanceof Error)) return {};
  return { cause: cause.name, ...('code' in cause && typeof cause.code === 'string' ? { causeCode: cause.code } : {}) };
}
