import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { LanguageStatus } from '../../shared/domain/models.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import type { Catalogue } from '../models/catalogue.ts';
import type { Downloads } from '../models/downloads/types.ts';
import type { Registry } from '../models/registry.ts';

export type ModelsServices = {
  catalogue: Pick<Catalogue, 'list'>;
  registry: Pick<Registry, 'list'>;
  downloads: Pick<Downloads, 'start' | 'pause' | 'resume' | 'cancel' | 'watch'>;
  /** The language slot; owned by the engines. */
  language: Pick<LiveValue<LanguageStatus>, 'watch'>;
  /** What is in memory now. */
  loaded: () => { key: string; memoryBytes: number | null; modelIds: ModelId[] }[];
  /** Takes back that a model was switched off. @throws AppError MODEL_NOT_INSTALLED. */
  enableLanguage: (modelId: ModelId) => void | Promise<void>;
};

export const modelsProcedures = (services: ModelsServices) => {
  const os = implement(contract.models);
  const { catalogue, registry, downloads } = services;
  return os.router({
    catalogue: os.catalogue.handler(() => ({ entries: [...catalogue.list()] })),
    installed: os.installed.handler(() => ({ models: [...registry.list()] })),
    startDownload: os.startDownload.handler(({ input }) => downloads.start(input.modelId)),
    pauseDownload: os.pauseDownload.handler(({ input }) => downloads.pause(input.jobId)),
    resumeDownload: os.resumeDownload.handler(({ input }) => downloads.resume(input.jobId)),
    cancelDownload: os.cancelDownload.handler(({ input }) => downloads.cancel(input.jobId)),
    downloads: os.downloads.handler(({ signal }) => downloads.watch(signal)),
    language: os.language.handler(({ signal }) => services.language.watch(signal)),
    loaded: os.loaded.handler(() => ({ engines: services.loaded() })),
    enableLanguage: os.enableLanguage.handler(async ({ input }) => {
      await services.enableLanguage(input.modelId);
      return { enabled: true as const };
    }),
  });
};
