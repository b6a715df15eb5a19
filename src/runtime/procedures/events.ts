import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { Events } from '../agent/events.ts';

export const eventsProcedures = (s: { events: Events }) => {
  const os = implement(contract.events);
  return os.router({
    list: os.list.handler(({ input }) => s.events.list(input)),
    watch: os.watch.handler(({ input, signal }) => s.events.watch(input, signal)),
  });
};
