import { useEffect, useRef } from 'react';
import type { TurnId } from '../../../shared/domain/ids.ts';
import { useAnnouncer, wholeSentences } from '../../lib/announcer.ts';
import { useLive } from '../../lib/services.tsx';
import { type MirrorState, openTurn } from '../../lib/sessionMirror.ts';
import { useTexts } from '../../lib/texts.ts';

/**
 * Tells a screen reader of a growing answer as chosen: by whole sentences, only its end, or nothing; never single words (UX-124).
 *
 * @param spokenTurn  the turn that Sotto says aloud: it is not announced as well (UX-125).
 */
export function useAnswerAnnouncements(state: MirrorState | null, spokenTurn: TurnId | null): void {
  const t = useTexts();
  const choice = useLive('settings').value?.announce ?? 'end';
  const say = useAnnouncer((s) => s.say);
  const told = useRef<{ turn: TurnId; upTo: number } | null>(null);
  useEffect(() => {
    if (state === null) return;
    if (spokenTurn !== null && (told.current === null || told.current.turn === spokenTurn)) {
      const aloud = openTurn(state);
      if (aloud === null || aloud.id === spokenTurn) {
        told.current = null;
        return;
      }
    }
    const turn = openTurn(state);
    if (turn !== null && turn.waitingOn === null && told.current?.turn !== turn.id) {
      told.current = { turn: turn.id, upTo: 0 };
      if (choice !== 'off') say(t('announce.answering'));
      return;
    }
    const now = told.current;
    if (now === null) return;
    if (state.growing !== null && state.growing.turnId === now.turn) {
      if (choice !== 'sentences') return;
      const { sentences, end } = wholeSentences(state.growing.text, now.upTo, false);
      now.upTo = end;
      if (sentences !== '') say(sentences);
      return;
    }
    const summary = state.turns.get(now.turn);
    if (summary === undefined || (turn !== null && turn.id === now.turn && turn.waitingOn === null)) return;
    told.current = null;
    if (choice === 'off') return;
    if (summary.status === 'failed') return say(t('announce.failed'));
    if (summary.status !== 'completed') return say(t('announce.stopped'));
    const answer = state.messages.findLast((m) => m.turnId === now.turn && m.role === 'assistant')?.text ?? '';
    if (choice === 'sentences') say(wholeSentences(answer, now.upTo, true).sentences || t('announce.done'));
    else say(t('announce.done'));
  }, [state, spokenTurn, choice, say, t]);
}
