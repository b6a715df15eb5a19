/**
 * How a child process is started and spoken to, whatever makes it: `utilityProcess`, `child_process.fork`, or an in-memory pair.
 * The exit event is the truth about its life; a message after it is impossible.
 */
export type ProcessStarter = {
  /** Starts the child at once. A failure to start shows as an exit, never as a throw. */
  start(spec: ProcessSpec): ProcessLink;
};

export type ProcessSpec = {
  /** For logs and process lists, e.g. `engine:language`. */
  readonly name: string;
  /** Entry by name; each starter knows its file. */
  readonly entry: 'runtime' | 'engine';
  readonly args: readonly string[];
  /** The whole environment of the child: a list that we make, never the parent's (ABI-12). */
  readonly env: Readonly<Record<string, string>>;
};

export type ProcessExit = { readonly code: number | null; readonly signal: string | null };

export type ProcessLink = {
  readonly pid: () => number | null;
  /** Structured clone. After the exit it does nothing. `transfer` holds message ports, for starters that can carry them. */
  post(message: unknown, transfer?: readonly unknown[]): void;
  onMessage(listener: (message: unknown) => void): void;
  onExit(listener: (exit: ProcessExit) => void): void;
  /** Ends the child and its children at once (SIGKILL). */
  kill(): void;
};
