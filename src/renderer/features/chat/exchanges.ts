import type { TurnId } from '../../../shared/domain/ids.ts';
import type { TranscriptMessage, TurnSummary } from '../../../shared/domain/session.ts';
import type { MirrorState } from '../../lib/sessionMirror.ts';

/** One question with its answers, as the thread shows it. `earlier` are the answers that a later try folded away, oldest first. */
export type Exchange = {
  readonly turnId: TurnId;
  readonly turn: TurnSummary | null;
  readonly input: TranscriptMessage | null;
  readonly answers: readonly TranscriptMessage[];
  readonly earlier: readonly Exchange[];
};

/**
 * Groups messages by turn in the order of their first message and hangs superseded tries under the one that replaced them in the end.
 *
 * @param state  messages oldest first.
 */
export function exchangesOf(state: Pick<MirrorState, 'messages' | 'turns'>): readonly Exchange[] {
  const byTurn = new Map<TurnId, TranscriptMessage[]>();
  const replacedBy = new Map<TurnId, TurnId>();
  for (const message of state.messages) {
    const list = byTurn.get(message.turnId);
    if (list === undefined) byTurn.set(message.turnId, [message]);
    else list.push(message);
    if (message.supersededBy !== null) replacedBy.set(message.turnId, message.supersededBy);
  }
  const last = (id: TurnId): TurnId => {
    const seen = new Set<TurnId>();
    let at = id;
    for (let next = replacedBy.get(at); next !== undefined && byTurn.has(next) && !seen.has(next); next = replacedBy.get(at)) {
      seen.add(at);
      at = next;
    }
    return at;
  };
  const earlier = new Map<TurnId, Exchange[]>();
  const all: Exchange[] = [];
  for (const [turnId, messages] of byTurn) {
    const exchange: Exchange = {
      turnId,
      turn: state.turns.get(turnId) ?? null,
      input: messages.find((m) => m.role === 'user') ?? null,
      answers: messages.filter((m) => m.role !== 'user'),
      earlier: [],
    };
    const shownUnder = last(turnId);
    if (shownUnder === turnId) all.push(exchange);
    else earlier.set(shownUnder, [...(earlier.get(shownUnder) ?? []), exchange]);
  }
  return all.map((exchange) => {
    const tries = earlier.get(exchange.turnId);
    return tries === undefined ? exchange : { ...exchange, earlier: tries };
  });
}
