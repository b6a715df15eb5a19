import { type ChildProcess, fork } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { AppError } from '../../../shared/errors/appError.ts';
import type { LedgerDoor } from '../../platform/fetch.ts';
import type { Logger } from '../../platform/ports.ts';
import { type DoorReply, FromNpm, type NpmOrder } from './npmMessages.ts';
import { packageEnv } from './packageEnv.ts';
import { type ClientRun, runClient } from './runClient.ts';

/**
 * Fetches one package as a tarball to `file`, by npm's own libraries in a child process (DL-31). Every socket of it has its row in
 * the ledger before it opens.
 *
 * @param run.entry  file of the child (`npmFetch`); `null` = this build has none.
 * @throws AppError PACKAGE_CLIENT_MISSING, PACKAGE_FETCH_FAILED, DOWNLOAD_STALLED, CANCELLED.
 */
export async function npmDownload(
  spec: { name: string; version: string },
  run: ClientRun & {
    entry: string | null;
    file: string;
    tmp: string;
    env: Readonly<Record<string, string | undefined>>;
    asker: string;
    ledger: LedgerDoor;
    offline: () => boolean;
    log: Logger;
  },
): Promise<void> {
  const { entry } = run;
  if (entry === null || !existsSync(entry)) throw new AppError('PACKAGE_CLIENT_MISSING', { client: 'npm' });
  const rows = new Map<number, number>();
  try {
    await runClient('npm', run, () => {
      const env = packageEnv(run.env, run.tmp);
      if (process.versions['electron'] !== undefined) env['ELECTRON_RUN_AS_NODE'] = '1';
      const child = fork(entry, [], { cwd: run.tmp, env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
      child.on('message', (raw) => onMessage(child, raw, rows, run));
      const order: NpmOrder = {
        k: 'fetch',
        name: spec.name,
        version: spec.version,
        file: run.file,
        tmp: run.tmp,
        nodePath: personsNode(run.env),
      };
      child.send(order, () => {});
      return child;
    });
  } finally {
    for (const row of rows.values()) run.ledger.close(row, { result: 'failed', sentBytes: null, receivedBytes: null });
  }
}

function onMessage(
  child: ChildProcess,
  raw: unknown,
  rows: Map<number, number>,
  run: { asker: string; ledger: LedgerDoor; offline: () => boolean; log: Logger },
): void {
  const message = FromNpm.safeParse(raw);
  if (!message.success) {
    run.log.warn('npm.badMessage');
    child.kill('SIGKILL');
    return;
  }
  const { data } = message;
  if (data.k === 'ask') {
    const entry = { reason: 'package', host: data.host, port: data.port, asker: run.asker } as const;
    const open = !run.offline();
    if (open) rows.set(data.n, run.ledger.open(entry));
    else run.ledger.refuse({ ...entry, note: 'offline switch' });
    const reply: DoorReply = { k: 'door', n: data.n, open };
    child.send(reply, () => {});
    return;
  }
  const row = rows.get(data.n);
  rows.delete(data.n);
  if (row !== undefined) {
    run.ledger.close(row, { result: data.ok ? 'ok' : 'failed', sentBytes: data.sent, receivedBytes: data.received });
  }
}

/** The person's own Node, whose folder tells npm's libraries where the global `npmrc` lies; this process if there is none. */
function personsNode(env: Readonly<Record<string, string | undefined>>): string {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return realpathSync(join(folder, name));
    } catch {
      // Not here.
    }
  }
  return process.execPath;
}
