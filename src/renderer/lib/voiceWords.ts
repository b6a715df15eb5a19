import type { VoiceView } from '../../shared/domain/voiceView.ts';
import { percent } from './format.ts';
import type { Texts } from './texts.ts';

/** What is done while it thinks, in words. */
export function stageWords(t: Texts, stage: VoiceView['stage']): string {
  if (stage === null) return t('voice.stages.waiting');
  const part = stage.fraction === null ? null : percent(stage.fraction);
  switch (stage.kind) {
    case 'hearing':
      return t('voice.stages.hearing');
    case 'loading':
      return part === null ? t('voice.stages.loading') : t('voice.stages.loadingPart', { percent: part });
    case 'reading':
      return part === null ? t('voice.stages.reading') : t('voice.stages.readingPart', { percent: part });
    case 'writing':
      return t('voice.stages.writing');
  }
}
