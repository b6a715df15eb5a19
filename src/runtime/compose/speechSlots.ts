import type { CatalogueEntry } from '../../shared/domain/models.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { InstalledSpeech, SpeechSlots } from '../engines/speechPorts.ts';
import type { Catalogue } from '../models/catalogue.ts';
import { hashFile } from '../models/downloads/part.ts';
import type { Registry } from '../models/registry.ts';
import type { Files } from '../platform/files.ts';

/**
 * Which speech models serve: of each slot the first catalogue entry whose very file is installed and proven. The older activity model comes
 * with Sotto as part of a package (VO-103).
 *
 * @param sparePath  of that file; `null` if this build has none.
 */
export function speechSlots(deps: {
  catalogue: Pick<Catalogue, 'list'>;
  registry: Pick<Registry, 'get' | 'path'>;
  files: Files;
  sparePath: string | null;
}): SpeechSlots {
  const { catalogue, registry, files, sparePath } = deps;
  const spareEntry = () => catalogue.list().find((entry) => entry.runtimeClass === 'silero-v4') ?? null;
  const isUsable = (entry: CatalogueEntry) => {
    const installed = registry.get(entry.id);
    return installed?.state === 'proven' && installed.sha256 === entry.file.sha256;
  };
  return {
    chosen(slot) {
      const entry = catalogue.list().find((one) => one.slot === slot && isUsable(one));
      return entry === undefined ? null : speechOf(entry);
    },
    async path(model) {
      const entry = spareEntry();
      if (entry?.id !== model.modelId || isUsable(entry) || sparePath === null) return registry.path(model.modelId);
      if ((await files.stat(sparePath)) === null) throw new AppError('MODEL_NOT_INSTALLED', { modelId: model.modelId });
      // It came with the program and not through the downloader: its own proof, 1.8 MB.
      const { sha256 } = await hashFile(files, sparePath, new AbortController().signal);
      if (sha256 !== model.sha256) throw new AppError('MODEL_FILE_CORRUPT', { reason: 'not the file that came with Sotto' });
      return sparePath;
    },
    spareActivity() {
      const entry = spareEntry();
      return entry === null || (sparePath === null && !isUsable(entry)) ? null : speechOf(entry);
    },
  };
}

function speechOf(entry: CatalogueEntry): InstalledSpeech {
  return {
    modelId: entry.id,
    sha256: entry.file.sha256,
    bytes: entry.file.bytes,
    runtimeClass: entry.runtimeClass,
    layout: entry.layout ?? [{ role: 'model', bytes: entry.file.bytes }],
    languages: entry.languages ?? [],
    voices: entry.voices ?? [],
    activity: entry.activity ?? null,
  };
}
