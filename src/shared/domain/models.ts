import { z } from 'zod';
import { JobId, ModelId } from './ids.ts';
import { Timestamp } from './time.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Where the bytes of a file can be had. `hub`: an https address with optional mirrors. `package`: a member of a published package (DL-31). */
export const ModelSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hub'), url: z.url({ protocol: /^https?$/ }), mirrors: z.array(z.url()).max(8).default([]) }),
  z.strictObject({
    kind: z.literal('package'),
    client: z.enum(['npm', 'pip']),
    /** Members are joined in this order to one file. */
    parts: z
      .array(z.strictObject({ name: z.string().min(1).max(214), version: z.string().min(1).max(64), member: z.string().min(1).max(512) }))
      .min(1)
      .max(64),
  }),
]);
export type ModelSource = z.infer<typeof ModelSource>;

/** How a model is best asked, where its makers or our trials know better than the defaults of its class (RT-03). */
export const ModelSampling = z.strictObject({ temperature: z.number().min(0).max(2), topP: z.number().gt(0).max(1) });
export type ModelSampling = z.infer<typeof ModelSampling>;

export const CatalogueEntry = z.strictObject({
  id: ModelId,
  name: z.string(),
  slot: z.enum(['language']),
  runtimeClass: z.enum(['generic-gguf']),
  /** One plain sentence for a person: what it is good for, and what not. */
  about: z.string(),
  parameters: z.string(),
  licence: z.strictObject({ id: z.string(), url: z.url() }),
  file: z.strictObject({ name: z.string(), bytes: z.int().positive(), sha256: Sha256 }),
  sampling: ModelSampling.optional(),
  sources: z.array(ModelSource).min(1).max(8),
  starter: z.boolean(),
});
export type CatalogueEntry = z.infer<typeof CatalogueEntry>;

export const InstalledModel = z.strictObject({
  id: ModelId,
  name: z.string(),
  slot: z.enum(['language']),
  bytes: z.int(),
  sha256: Sha256,
  /** `unproven`: no expected hash was known (DL-14). `rejected`: the pre-check or the trial load refused the file. */
  state: z.enum(['proven', 'unproven', 'rejected']),
  reason: z.string().nullable(),
  installedAt: Timestamp,
});
export type InstalledModel = z.infer<typeof InstalledModel>;

export const DownloadPhase = z.enum(['queued', 'waiting', 'downloading', 'paused', 'verifying', 'installed', 'failed', 'cancelled']);
export type DownloadPhase = z.infer<typeof DownloadPhase>;

/** models page 9.6. Sizes are bytes, speeds bytes per second; `null` = not known. */
export const DownloadJob = z.strictObject({
  jobId: JobId,
  modelId: ModelId,
  phase: DownloadPhase,
  waitingFor: z.enum(['network', 'disk', 'retry', 'policy']).nullable(),
  nextTryAt: Timestamp.nullable(),
  received: z.int().min(0),
  total: z.int().min(0).nullable(),
  bytesPerSec: z.number().min(0),
  etaMs: z.number().min(0).nullable(),
  attempts: z.int().min(0),
  host: z.string().nullable(),
  startedAt: Timestamp,
  updatedAt: Timestamp,
  restarted: z.string().nullable(),
  error: z.strictObject({ code: z.string(), data: z.record(z.string(), z.json()) }).nullable(),
  resumable: z.boolean(),
});
export type DownloadJob = z.infer<typeof DownloadJob>;

/** State of the language slot, as the chat shows it (RT-05, RT-06). */
export const LanguageStatus = z.strictObject({
  state: z.enum(['none', 'idle', 'loading', 'ready', 'error']),
  modelId: ModelId.nullable(),
  name: z.string().nullable(),
  fraction: z.number().min(0).max(1).nullable(),
  contextSize: z.int().nullable(),
  device: z.string().nullable(),
  cpuVariant: z.string().nullable(),
  error: z.strictObject({ code: z.string(), data: z.record(z.string(), z.json()) }).nullable(),
});
export type LanguageStatus = z.infer<typeof LanguageStatus>;
