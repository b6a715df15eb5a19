import { createHash } from 'node:crypto';
import { SessionId } from '../../shared/domain/ids.ts';
import { isAppError, toAppError } from '../../shared/errors/appError.ts';
import type { Agent } from '../agent/ports.ts';
import type { Logger } from '../platform/ports.ts';
import type { Conversation } from '../voice/ports.ts';

/** What the agent says to a turn that is over, or gone with its session. */
const over = ['NO_ACTIVE_TURN', 'TURN_MISMATCH', 'TURN_NOT_FOUND', 'SESSION_NOT_FOUND'] as const;

/** The agent as a spoken turn needs it. `cancel` and `heard` come when sound has ended already: they never throw. */
export function createConversation({ agent, log }: { agent: Pick<Agent, 'sessions' | 'turns' | 'replies'>; log: Logger }): Conversation {
  const quietly = (what: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (over.some((code) => isAppError(error, code))) return;
      log.error(what, { code: toAppError(error).code }, error);
    }
  };
  return {
    send({ sessionId, text, key, replaces }) {
      const id = sessionId ?? agent.sessions.start({ sessionId: sessionOf(key), origin: 'voice' }).session.id;
      const { turnId } = agent.turns.send({ sessionId: id, content: text, idempotencyKey: key, source: 'voice', replaces });
      return { sessionId: id, turnId };
    },
    cancel({ sessionId, turnId }, reason) {
      quietly('voice.cancelFailed', () => agent.turns.cancel({ sessionId, turnId, reason }));
    },
    follow: (turn, signal) => agent.replies.follow(turn, signal),
    heard({ sessionId, turnId }, units) {
      quietly('voice.heardFailed', () => agent.turns.heard({ sessionId, turnId, units }));
    },
  };
}

/** A new chat's id follows from the key, so that the same words sent twice make one chat as they make one turn. */
function sessionOf(key: string): SessionId {
  return SessionId.parse(`session_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`);
}
