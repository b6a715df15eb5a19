import type { ModelId } from '../../shared/domain/ids.ts';
import type { CatalogueEntry } from '../../shared/domain/models.ts';
import { type SpeakingVoice, sortVoices, talkFitness } from '../../shared/domain/voiceCatalogue.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { InstalledModels } from '../store/installed.ts';
import type { Catalogue } from './catalogue.ts';
import type { TrialResult } from './ports.ts';
import type { Registry } from './registry.ts';

export type VoiceFilter = {
  readonly language?: string | undefined;
  readonly gender?: SpeakingVoice['gender'] | undefined;
  readonly installed?: boolean | undefined;
  /** Language tag of the person, whose voices come first. */
  readonly first?: string | undefined;
};

export type Voices = {
  /** All speaking voices that are installed or can be had (VO-96). */
  list(filter: VoiceFilter): SpeakingVoice[];
  /** The pack's own voices, one per language, those of the best model first: who speaks where nobody was chosen (VO-97). */
  standard(): string[];
  /**
   * Measures a speaking model anew: at its trial the machine may have been busy with something else.
   *
   * @throws AppError MODEL_NOT_INSTALLED if it does not speak or is not there, and what a trial throws.
   */
  measure(modelId: ModelId, signal: AbortSignal): Promise<{ speedFactor: number }>;
};

type Known = { catalogue: Pick<Catalogue, 'list'>; registry: Pick<Registry, 'get'> };

/** Whether the very file of the entry is installed and proven. */
export function isUsable({ registry }: Pick<Known, 'registry'>, entry: CatalogueEntry): boolean {
  const installed = registry.get(entry.id);
  return installed?.state === 'proven' && installed.sha256 === (entry.prepare?.file ?? entry.file).sha256;
}

/**
 * Speaking models that may serve, the pack's own first: a voice that is not fast everywhere goes first only where its trial showed that it
 * keeps up (VO-62); alone it serves all the same.
 */
export function usableSpeakers(known: Known): CatalogueEntry[] {
  const usable = known.catalogue.list().filter((entry) => entry.slot === 'speak' && isUsable(known, entry));
  const isStandard = (entry: CatalogueEntry) => talkFitness(entry, known.registry.get(entry.id)?.speedFactor) === 'standard';
  return [...usable.filter(isStandard), ...usable.filter((entry) => !isStandard(entry))];
}

/** @param deps.trial  as at install: loads the file in the probe engine and lets it speak. */
export function createVoices(
  deps: Known & {
    registry: Pick<Registry, 'get' | 'path' | 'refresh'>;
    installed: Pick<InstalledModels, 'get' | 'put'>;
    trial: (entry: CatalogueEntry, path: string, signal: AbortSignal) => Promise<TrialResult | undefined>;
  },
): Voices {
  const ofEntry = (entry: CatalogueEntry): SpeakingVoice[] => {
    const isThere = isUsable(deps, entry);
    const speedFactor = isThere ? deps.registry.get(entry.id)?.speedFactor : undefined;
    return (entry.voices ?? []).map(({ grade, ...voice }) => ({
      ...voice,
      modelId: entry.id,
      modelName: entry.name,
      sampleRate: entry.sampleRate ?? null,
      licence: entry.licence,
      ...(entry.notice === undefined ? {} : { notice: entry.notice }),
      sizeBytes: entry.file.bytes,
      state: isThere ? 'installed' : 'available',
      // Nothing speaks and listens to itself yet (VO-62); until then nobody claims to have understood it.
      check: 'notChecked',
      ...(speedFactor === undefined ? {} : { speedFactor }),
      talk: talkFitness(entry, speedFactor),
      ...(grade === undefined ? {} : { note: grade }),
    }));
  };
  return {
    list({ language, gender, installed, first }) {
      const voices = deps.catalogue.list().flatMap((entry) => (entry.slot === 'speak' ? ofEntry(entry) : []));
      const wanted = voices.filter(
        (voice) =>
          (language === undefined || voice.language === baseOf(language)) &&
          (gender === undefined || voice.gender === gender) &&
          (installed === undefined || (voice.state === 'installed') === installed),
      );
      return sortVoices(wanted, baseOf(first ?? 'en'));
    },
    standard() {
      const first = new Map<string, string>();
      for (const { voices = [] } of usableSpeakers(deps))
        for (const { language, voiceId } of voices) if (!first.has(language)) first.set(language, voiceId);
      return [...first.values()];
    },
    async measure(modelId, signal) {
      const entry = usableSpeakers(deps).find((one) => one.id === modelId);
      if (entry === undefined) throw new AppError('MODEL_NOT_INSTALLED', { modelId });
      const measured = await deps.trial(entry, await deps.registry.path(modelId), signal);
      const row = deps.installed.get(modelId);
      if (measured === undefined || row === null) throw new AppError('MODEL_NOT_INSTALLED', { modelId });
      deps.installed.put({ ...row, speedFactor: measured.speedFactor });
      deps.registry.refresh();
      return measured;
    },
  };
}

/** `en` of `en-GB`. */
function baseOf(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? tag;
}
