import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { SessionId, TurnId } from '../../../shared/domain/ids.ts';
import { useLive, useServices } from '../../lib/services.tsx';
import { useUi } from '../../lib/ui.ts';

/** What voice does in this chat now: which turn is its own, and whether an answer is being said. */
export function useSpokenTurn(sessionId: SessionId | null): { turnId: TurnId | null; speaking: boolean } {
  const view = useLive('voice').value;
  if (view === null || sessionId === null || view.sessionId !== sessionId || view.phase === 'off') return { turnId: null, speaking: false };
  return { turnId: view.turnId, speaking: view.phase === 'speaking' || view.phase === 'held' };
}

/** A question that was spoken in the chat that did not exist yet has made one: it is opened, unless the person went elsewhere meanwhile. */
export function useSpokenChat(): void {
  const view = useLive('voice').value;
  const { state } = useServices().voice;
  const asked = useStore(state, (s) => s.asked);
  const shown = useUi((s) => s.sessionId);
  const made = view !== null && asked !== null && view.turnId !== asked.after ? view.sessionId : null;
  useEffect(() => {
    if (asked === null || asked.sessionId !== null) return;
    if (shown === null && made === null) return;
    state.setState({ asked: null });
    if (shown === null && made !== null) useUi.getState().openChat(made);
  }, [asked, made, shown, state]);
}
