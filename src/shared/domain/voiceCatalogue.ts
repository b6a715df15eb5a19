import { z } from 'zod';
import { ModelId } from './ids.ts';
import { type CatalogueEntry, ModelVoice } from './models.ts';

/** Above this real-time factor a voice falls behind itself: TTS_TOO_SLOW, it is not offered for talk (VO-62). */
export const slowestTalk = 0.7;

/**
 * How a voice is fit for talking on this machine. `standard`: without having been chosen. `slower`: it is offered, with pauses. `tooSlow`: for
 * reading aloud only.
 */
export const TalkFitness = z.enum(['standard', 'slower', 'tooSlow']);
export type TalkFitness = z.infer<typeof TalkFitness>;

/** A speaking voice as the list shows it (VO-96); what is not known is left out, or says so. */
export const SpeakingVoice = ModelVoice.omit({ grade: true }).extend({
  modelId: ModelId,
  modelName: z.string(),
  sampleRate: z.int().nullable(),
  licence: z.strictObject({ id: z.string(), url: z.url() }),
  /** What the licences want to be said beside it. */
  notice: z.string().optional(),
  /** Of the whole model, as it is fetched; its voices come together. */
  sizeBytes: z.int(),
  state: z.enum(['installed', 'available']),
  /** Whether what it says was understood by the recogniser on this machine (VO-62). */
  check: z.enum(['understood', 'notChecked', 'misheard']),
  /** Seconds that this machine takes for one second of speech, as the trial measured it. */
  speedFactor: z.number().positive().optional(),
  talk: TalkFitness,
  /** The makers' own grade, A to F. */
  note: z.string().optional(),
});
export type SpeakingVoice = z.infer<typeof SpeakingVoice>;

/** @param factor  as the trial measured it; left out: not yet. */
export function talkFitness({ talk }: Pick<CatalogueEntry, 'talk'>, factor: number | undefined): TalkFitness {
  if (talk === undefined || (factor !== undefined && factor <= talk.maxFactor)) return 'standard';
  return factor !== undefined && factor > slowestTalk ? 'tooSlow' : 'slower';
}

const genders = ['female', 'male', 'neutral', 'unknown'] as const;

/** The person's language first, then by gender, accent, grade and name. @param language  first part of its tag. */
export function sortVoices(voices: readonly SpeakingVoice[], language: string): SpeakingVoice[] {
  const rank = (voice: SpeakingVoice) => (voice.language === language ? 0 : 1);
  return voices.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.language.localeCompare(b.language) ||
      genders.indexOf(a.gender) - genders.indexOf(b.gender) ||
      a.locale.localeCompare(b.locale) ||
      gradeRank(a.note) - gradeRank(b.note) ||
      a.name.localeCompare(b.name),
  );
}

/** A+ before A before A-; without a grade last. */
function gradeRank(grade: string | undefined): number {
  if (grade === undefined) return Number.POSITIVE_INFINITY;
  const sign = grade[1] === '+' ? -1 : grade[1] === '-' ? 1 : 0;
  return grade.charCodeAt(0) * 3 + sign;
}
