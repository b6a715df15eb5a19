import type { ModelId } from '../../shared/domain/ids.ts';
import type { InstalledModel, ModelSampling } from '../../shared/domain/models.ts';
import { detach } from '../../shared/util/detach.ts';
import type { LanguageSlot } from '../engines/ports.ts';
import type { Registry } from '../models/registry.ts';
import type { Logger } from '../platform/ports.ts';

/**
 * Which installed model answers: the one that `SOTTO_LOCAL_SMALL_MODEL` names if it is there, else the newest proven one. An unproven or
 * rejected file is never loaded by itself (DL-14).
 */
export function languageSlot(
  registry: Pick<Registry, 'list' | 'path' | 'models'>,
  samplingOf: (modelId: ModelId) => ModelSampling | null,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): LanguageSlot {
  const forced = env.SOTTO_LOCAL_SMALL_MODEL;
  const pick = (): InstalledModel | null => {
    const usable = registry.list().filter((model) => model.slot === 'language' && model.state === 'proven');
    return usable.find((model) => model.id === forced) ?? usable[0] ?? null;
  };
  return {
    chosen() {
      const model = pick();
      if (model === null) return null;
      const { id, name, sha256, bytes } = model;
      return { modelId: id, name, sha256, bytes, sampling: samplingOf(id) };
    },
    path: (modelId) => registry.path(modelId),
    onChange(listener) {
      const follow = async () => {
        for await (const _ of registry.models.watch()) listener();
      };
      detach(follow(), log, 'language.slot');
    },
  };
}
