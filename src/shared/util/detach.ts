/** What `detach` needs of a log. */
export type DetachLog = { error(event: string, fields?: Readonly<Record<string, string>>, cause?: unknown): void };

/**
 * Lets a promise run on its own; a failure is logged instead of ending the process.
 *
 * @param what  name for the log, e.g. `downloads.recover`.
 */
export function detach(promise: PromiseLike<unknown>, log: DetachLog, what: string): void {
  promise.then(undefined, (error: unknown) => log.error('detached.failed', { what }, error));
}
