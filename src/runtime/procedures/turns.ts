import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { Turns } from '../agent/turns.ts';

export const turnsProcedures = (s: { turns: Turns }) => {
  const os = implement(contract.turns);
  return os.router({
    send: os.send.handler(({ input }) => s.turns.send(input)),
    retry: os.retry.handler(({ input }) => s.turns.retry(input)),
    cancel: os.cancel.handler(({ input }) => s.turns.cancel(input)),
    get: os.get.handler(({ input }) => s.turns.get(input.sessionId, input.turnId)),
    decide: os.decide.handler(({ input }) => s.turns.decide(input)),
    history: os.history.handler(({ input }) => s.turns.history(input)),
  });
};
