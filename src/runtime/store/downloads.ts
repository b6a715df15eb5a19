import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { JobId, ModelId } from '../../shared/domain/ids.ts';
import { DownloadPhase } from '../../shared/domain/models.ts';

/** The strong tag of the part, worth something at the host that gave it only (DL-10). */
export const PartValidator = z.strictObject({ host: z.string(), etag: z.string() });
export type PartValidator = z.infer<typeof PartValidator>;

/** One job as the database holds it, and as the reducer moves it. Times are ms since 1970, sizes bytes. */
export const StoredJob = z.strictObject({
  jobId: JobId,
  modelId: ModelId,
  phase: DownloadPhase,
  waitingFor: z.enum(['network', 'disk', 'retry', 'policy']).nullable(),
  nextTryAtMs: z.number().nullable(),
  received: z.int().min(0),
  total: z.int().min(0).nullable(),
  /** All attempts ever, for the person; `tries` are failures since the last 5 MB of progress. */
  attempts: z.int().min(0),
  tries: z.int().min(0),
  progressMark: z.int().min(0),
  /** First of the network failures in a row: 24 h after it an unattended job ends. */
  failingSinceMs: z.number().nullable(),
  /** Which of `routes` addresses and packages is in use. */
  route: z.int().min(0),
  routes: z.int().min(1),
  wrongBytes: z.int().min(0),
  notModel: z.int().min(0),
  host: z.string().nullable(),
  validator: PartValidator.nullable(),
  /** SHA-256 that the whole part turned out to have; kept so that a crash after the rename finds its file again. */
  digest: z.string().nullable(),
  /** The whole file has its final name; what is left is the trial load. */
  placed: z.boolean(),
  restarted: z.string().nullable(),
  error: z.strictObject({ code: z.string(), data: z.record(z.string(), z.json()) }).nullable(),
  resumable: z.boolean(),
  startedAtMs: z.number(),
  updatedAtMs: z.number(),
});
export type StoredJob = z.infer<typeof StoredJob>;

export type DownloadJobs = {
  /** Durable when it returns. A second unfinished job of one model is refused by an index (DL-01). */
  put(job: StoredJob): void;
  /** All jobs that are not final, and the newest finished ones. A row that cannot be read is left out and counted. */
  load(finished: number): { jobs: StoredJob[]; unreadable: number };
  /** Forgets finished jobs older than the newest `keep`. */
  trim(keep: number): void;
  /** All of `work` or nothing. */
  transaction<T>(work: () => T): T;
};

const final = "('installed','failed','cancelled')";

/** The table `downloads`. */
export function createDownloadJobs(db: Database): DownloadJobs {
  const upsert = db.prepare<[string, string, string, number, number, number, string]>(`
    INSERT INTO downloads (job_id, model_id, phase, received, started_at, updated_at, state) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (job_id) DO UPDATE SET phase = excluded.phase, received = excluded.received, updated_at = excluded.updated_at,
      state = excluded.state`);
  const unfinished = db.prepare<[], { state: string }>(
    `SELECT state FROM downloads WHERE phase NOT IN ${final} ORDER BY started_at, job_id`,
  );
  const done = db.prepare<[number], { state: string }>(
    `SELECT state FROM downloads WHERE phase IN ${final} ORDER BY updated_at DESC, job_id DESC LIMIT ?`,
  );
  const drop = db.prepare<[number]>(
    `DELETE FROM downloads WHERE phase = 'installed' AND job_id NOT IN
      (SELECT job_id FROM downloads WHERE phase IN ${final} ORDER BY updated_at DESC, job_id DESC LIMIT ?)`,
  );
  return {
    put(job) {
      upsert.run(
        job.jobId,
        job.modelId,
        job.phase,
        job.received,
        Math.floor(job.startedAtMs),
        Math.floor(job.updatedAtMs),
        JSON.stringify(job),
      );
    },
    load(finished) {
      const jobs: StoredJob[] = [];
      let unreadable = 0;
      for (const { state } of [...unfinished.all(), ...done.all(finished)]) {
        const job = StoredJob.safeParse(parse(state));
        if (job.success) jobs.push(job.data);
        else unreadable += 1;
      }
      return { jobs, unreadable };
    },
    trim: (keep) => void drop.run(keep),
    transaction: (work) => db.transaction(work)(),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
