import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { Keys } from '../store/keys.ts';

/** Keys and sign-in codes of `sotto serve`. */
export const serverProcedures = (s: { keys: Keys }) => {
  const os = implement(contract.server);
  return os.router({
    keys: os.keys.handler(() => ({ keys: s.keys.list() })),
    createKey: os.createKey.handler(({ input }) => s.keys.create(input.name)),
    revokeKey: os.revokeKey.handler(({ input }) => s.keys.revoke(input.keyId)),
    oneTimeCode: os.oneTimeCode.handler(() => s.keys.oneTimeCode()),
  });
};
