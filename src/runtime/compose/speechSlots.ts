import { type CatalogueEntry, storedLayout } from '../../shared/domain/models.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { InstalledSpeech, SpeechSlot, SpeechSlots } from '../engines/speechPorts.ts';
import type { Catalogue } from '../models/catalogue.ts';
import { hashFile } from '../models/downloads/part.ts';
import type { Registry } from '../models/registry.ts';
import { isUsable, usableSpeakers } from '../models/voices.ts';
import type { Files } from '../platform/files.ts';

/**
 * Which speech models serve: of each slot the first catalogue entry whose very file is installed and proven, of voices
 * the pack's own. The older activity model comes
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
  const known = { catalogue, registry };
  const usable = (slot: SpeechSlot) =>
    slot === 'speak' ? usableSpeakers(known) : catalogue.list().filter((one) => one.slot === slot && isUsable(known, one));
  return {
    chosen(slot) {
      const [entry] = usable(slot);
      return entry === undefined ? null : speechOf(entry);
    },
    usable: (slot) => usable(slot).map(speechOf),
    async path(model) {
      const entry = spareEntry();
      if (entry?.id !== model.modelId || isUsable(known, entry) || sparePath === null) return registry.path(model.modelId);
      if ((await files.stat(sparePath)) === null) throw new AppError('MODEL_NOT_INSTALLED', { modelId: model.modelId });
      // It came with the program and not through the downloader: its own proof, 1.8 MB.
      const { sha256 } = await hashFile(files, sparePath, new AbortController().signal);
      if (sha256 !== model.sha256) throw new AppError('MODEL_FILE_CORRUPT', { reason: 'not the file that came with Sotto' });
      return sparePath;
    },
    spareActivity() {
      const entry = spareEntry();
      return entry === null || (sparePath === null && !isUsable(known, entry)) ? null : speechOf(entry);
    },
  };
}

function speechOf(entry: CatalogueEntry): InstalledSpeech {
  const file = entry.prepare?.file ?? entry.file;
  return {
    modelId: entry.id,
    sha256: file.sha256,
    bytes: file.bytes,
    runtimeClass: entry.runtimeClass,
    layout: storedLayout(entry),
    languages: entry.languages ?? [],
    voices: entry.voices ?? [],
    activity: entry.activity ?? null,
  };
}
