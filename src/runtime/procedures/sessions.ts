import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { Sessions } from '../agent/sessions.ts';

export const sessionsProcedures = (s: { sessions: Sessions }) => {
  const os = implement(contract.sessions);
  return os.router({
    start: os.start.handler(({ input }) => s.sessions.start(input)),
    get: os.get.handler(({ input }) => s.sessions.get(input.sessionId)),
    list: os.list.handler(({ input }) => s.sessions.list(input)),
    watchList: os.watchList.handler(({ signal }) => s.sessions.watchList(signal)),
    setTitle: os.setTitle.handler(({ input }) => s.sessions.setTitle(input.sessionId, input.title)),
    trash: os.trash.handler(({ input }) => s.sessions.trash(input.sessionId)),
    restore: os.restore.handler(({ input }) => s.sessions.restore(input.sessionId)),
    erase: os.erase.handler(({ input }) => s.sessions.erase(input.sessionId)),
    search: os.search.handler(({ input, signal }) => s.sessions.search(input, signal)),
    getDraft: os.getDraft.handler(({ input }) => s.sessions.getDraft(input.sessionId)),
    setDraft: os.setDraft.handler(({ input }) => s.sessions.setDraft(input.sessionId, input.text)),
  });
};
