import type { Clock } from '../../shared/util/clock.ts';

export type { Clock };

/** Structured log: an event name and plain fields. No user text, no prompt, no path of the user (PV-14). */
export type Logger = {
  info(event: string, fields?: Readonly<Record<string, LogField>>): void;
  warn(event: string, fields?: Readonly<Record<string, LogField>>): void;
  error(event: string, fields?: Readonly<Record<string, LogField>>, cause?: unknown): void;
};
export type LogField = string | number | boolean | null;

/** Where the runtime keeps its things, all below one data folder (architecture page; RB-61). */
export type Paths = {
  readonly data: string;
  readonly database: string;
  readonly lock: string;
  readonly backups: string;
  readonly models: string;
  readonly parts: string;
  readonly cache: string;
  readonly tmp: string;
  readonly logs: string;
  readonly httpJson: string;
  readonly httpToken: string;
};

/** The one door to the network (PV-03). A request writes its ledger row before the socket opens. */
export type OutboundReason = 'model_download' | 'catalogue' | 'package' | 'update';

export type OutboundRequest = {
  readonly url: string;
  readonly reason: OutboundReason;
  /** Who asked, e.g. a model id. */
  readonly asker: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
};

export type OutboundResponse = {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly host: string;
  readonly body: AsyncIterable<Uint8Array>;
};

export type Fetch = {
  /** One hop: redirects are the caller's business. Throws AppError NO_NETWORK, OFFLINE, CANCELLED, DOWNLOAD_STALLED. */
  open(request: OutboundRequest): Promise<OutboundResponse>;
};
