import type { DownloadJob } from '../../../shared/domain/models.ts';
import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import { bytes, number, percent } from '../../lib/format.ts';
import type { Texts } from '../../lib/texts.ts';

/** Name of a language in the page's own; its tag where the browser knows none. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames([navigator.language], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** "American"; the region of a locale that has no word of ours. */
export function accentName(t: Texts, locale: string): string {
  if (locale === 'en-US' || locale === 'en-GB') return t(`voices.accents.${locale}`);
  return languageName(locale);
}

/** What is known of a voice, in one line; what is not known says so. */
export function factsOf(t: Texts, voice: SpeakingVoice): string {
  const { modelName, sizeBytes, licence, check, speedFactor, note } = voice;
  return [
    modelName,
    bytes(sizeBytes),
    t('voices.licence', { name: licence.id }),
    ...(note === undefined ? [] : [t('voices.grade', { grade: note })]),
    t(`voices.check.${check}`),
    speedFactor === undefined ? t('voices.speedUnknown') : t('voices.speedFactor', { factor: number(speedFactor, 2) }),
  ].join(' · ');
}

/** Why a voice is less fit for talking, or cannot be taken for it; `null` = it is fit. */
export function fitnessWords(t: Texts, { check, talk, speedFactor }: SpeakingVoice): string | null {
  if (check === 'misheard') return t('voices.misheard');
  if (talk === 'standard') return null;
  if (speedFactor === undefined) return t('voices.slowerUnknown');
  return t(talk === 'tooSlow' ? 'voices.tooSlow' : 'voices.slower', { factor: number(speedFactor, 2) });
}

/** One that failed its check cannot be taken for talk (UX-180). */
export function canTalk({ state, check, talk }: SpeakingVoice): boolean {
  return state === 'installed' && check !== 'misheard' && talk !== 'tooSlow';
}

/** How far a model is fetched, in two words. */
export function gettingWords(t: Texts, job: DownloadJob, totalBytes: number): string {
  if (job.prepared !== undefined) return t('voices.preparing', { percent: percent(job.prepared) });
  if (job.phase === 'queued' || job.phase === 'waiting' || job.phase === 'paused') return t('voices.waiting');
  return t('voices.getting', { percent: percent(job.received / (job.total ?? totalBytes)) });
}
