import { ModelId } from '../../../shared/domain/ids.ts';
import type { DownloadJob } from '../../../shared/domain/models.ts';
import { AppError, fromWire } from '../../../shared/errors/appError.ts';
import type { RuntimeClient } from '../../http/client.ts';
import type { Command } from './args.ts';
import type { Io } from './io.ts';
import { bytes } from './texts.ts';

/** `sotto models …`. */
export async function modelsCommand(command: Extract<Command, { name: 'models' }>, client: RuntimeClient, io: Io): Promise<number> {
  return command.action === 'list' ? list(command.common.json, client, io) : pull(command.modelId, command.common.json, client, io);
}

async function list(json: boolean, client: RuntimeClient, io: Io): Promise<number> {
  const [{ entries }, { models }] = await Promise.all([client.models.catalogue({}), client.models.installed({})]);
  const state = new Map<string, string>(models.map((model) => [model.id, model.state]));
  const rows = [
    ...entries.map((entry) => ({ id: entry.id, name: entry.name, bytes: entry.file.bytes, state: state.get(entry.id) ?? 'not installed' })),
    ...models
      .filter((model) => !entries.some((entry) => entry.id === model.id))
      .map((model) => ({ id: model.id, name: model.name, bytes: model.bytes, state: model.state })),
  ];
  for (const row of rows)
    io.out(
      json ? `${JSON.stringify(row)}\n` : `${row.id.padEnd(36)}  ${row.state.padEnd(13)}  ${bytes(row.bytes).padStart(8)}  ${row.name}\n`,
    );
  return 0;
}

/** Starts a download, or joins it, and stays until it has ended. Ctrl-C leaves; what was downloaded is kept. */
async function pull(id: string, json: boolean, client: RuntimeClient, io: Io): Promise<number> {
  const modelId = ModelId.safeParse(id);
  if (!modelId.success) throw new AppError('MODEL_UNKNOWN', { modelId: id });
  const { models } = await client.models.installed({});
  const present = models.find((model) => model.id === modelId.data && model.state !== 'rejected');
  if (present !== undefined) {
    io.out(json ? `${JSON.stringify({ modelId: present.id, phase: 'installed' })}\n` : `${present.name} is already installed.\n`);
    return 0;
  }
  const abort = new AbortController();
  let signalled: 'SIGINT' | 'SIGTERM' | null = null;
  const stopListening = io.onSignal((signal) => {
    if (signalled !== null) io.exit(exitOf(signal));
    signalled = signal;
    abort.abort();
  });
  const bar = createBar(io, json);
  try {
    const snapshots = await client.models.downloads({}, { signal: abort.signal });
    const { jobId } = await client.models.startDownload({ modelId: modelId.data });
    for await (const { value } of snapshots) {
      const job = value.jobs.find((one) => one.jobId === jobId);
      if (job === undefined) continue;
      bar.show(job);
      if (job.phase === 'installed') {
        bar.end();
        if (!json) io.out(`${job.modelId} is installed.\n`);
        return 0;
      }
      if (job.phase === 'failed') throw fromWire({ code: job.error?.code ?? 'INTERNAL', message: '', data: job.error?.data ?? {} });
      // Nothing will move before a person takes the switch back, so there is nothing to stay for.
      if (job.phase === 'waiting' && job.waitingFor === 'policy') throw new AppError('OFFLINE');
      if (job.phase === 'cancelled') throw new AppError('CANCELLED');
    }
    throw new AppError('RUNTIME_UNAVAILABLE');
  } catch (error) {
    if (signalled === null) throw error;
    bar.end();
    io.err('Left. What was downloaded is kept; pull again to go on.\n');
    return exitOf(signalled);
  } finally {
    bar.end();
    stopListening();
  }
}

const exitOf = (signal: 'SIGINT' | 'SIGTERM') => (signal === 'SIGINT' ? 130 : 143);

/** A line that is redrawn for a person, one line each tenth for a file, JSON for a program. */
function createBar(io: Io, json: boolean) {
  let drawn = false;
  let last = '';
  return {
    show(job: DownloadJob) {
      if (json) {
        io.out(`${JSON.stringify(job)}\n`);
        return;
      }
      const text = lineOf(job);
      if (io.terminal) {
        io.err(`\r\x1b[K${text}`);
        drawn = true;
        return;
      }
      // Without a terminal a tenth is news enough.
      const step = `${job.phase} ${job.total === null ? '' : Math.floor((10 * job.received) / job.total)}`;
      if (step !== last) io.err(`${text}\n`);
      last = step;
    },
    end() {
      if (drawn) io.err('\n');
      drawn = false;
    },
  };
}

function lineOf(job: DownloadJob): string {
  switch (job.phase) {
    case 'downloading': {
      if (job.total === null) return `downloading  ${bytes(job.received)}`;
      const share = Math.min(1, job.received / job.total);
      const filled = Math.round(20 * share);
      const left = job.etaMs === null ? '' : `  about ${Math.max(1, Math.round(job.etaMs / 1000))} s left`;
      const at = `${Math.floor(100 * share)} %`.padStart(5);
      return `[${'#'.repeat(filled)}${'.'.repeat(20 - filled)}] ${at}  ${bytes(job.received)} of ${bytes(job.total)}  ${bytes(job.bytesPerSec)}/s${left}`;
    }
    case 'waiting':
      return `waiting for ${job.waitingFor === 'retry' ? 'the next try' : (job.waitingFor ?? 'its turn')}`;
    case 'verifying':
      return 'checking the file';
    default:
      return job.phase;
  }
}
