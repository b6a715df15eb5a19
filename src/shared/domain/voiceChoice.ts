/** Where a voice was taken (VO-97). Persons, agents and languages get steps of their own when they can choose one. */
export type VoiceStep = 'chat' | 'everything' | 'pack' | 'none';

export type ChoosableVoice = { readonly voiceId: string; readonly language: string };

export type VoiceDecision = {
  /** Who speaks; `null` = nobody, there are captions. */
  readonly voiceId: string | null;
  /** Which choice decides. */
  readonly by: VoiceStep;
  /** Why nobody speaks: the chosen voice is gone, or it does not speak the language; it is never replaced by itself (VO-64). */
  readonly problem: 'gone' | 'language' | null;
  /** What the next choice of the order would give: for the button that takes it. */
  readonly next: string | null;
};

/**
 * Which voice speaks: chosen for this chat · the person's for everything · the pack's own for the language · none.
 *
 * @param input.chat        voice chosen for this chat.
 * @param input.everything  the person's voice for everything.
 * @param input.voices      those that can speak now.
 * @param input.standard    the pack's own voices, best first; one per language counts.
 * @param input.language    first part of the text's language tag; left out: not known, any will do.
 */
export function chooseVoice(input: {
  chat: string | null;
  everything: string | null;
  voices: readonly ChoosableVoice[];
  standard: readonly ChoosableVoice[];
  language?: string | undefined;
}): VoiceDecision {
  const { language, voices, standard } = input;
  const speaks = (voice: ChoosableVoice) => language === undefined || voice.language === language;
  const pack = standard.find(speaks)?.voiceId ?? null;
  const chosen = [
    { by: 'chat', voiceId: input.chat },
    { by: 'everything', voiceId: input.everything },
  ] as const;
  const problemOf = (voiceId: string): 'gone' | 'language' | null => {
    const voice = voices.find((one) => one.voiceId === voiceId);
    if (voice === undefined) return 'gone';
    return speaks(voice) ? null : 'language';
  };
  for (const [at, { by, voiceId }] of chosen.entries()) {
    if (voiceId === null) continue;
    const after = chosen.slice(at + 1).find((one) => one.voiceId !== null && problemOf(one.voiceId) === null)?.voiceId ?? pack;
    const problem = problemOf(voiceId);
    return { voiceId: problem === null ? voiceId : null, by, problem, next: after };
  }
  return { voiceId: pack, by: pack === null ? 'none' : 'pack', problem: null, next: null };
}
