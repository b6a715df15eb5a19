import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { Ledger } from '../store/ledger.ts';

export const ledgerProcedures = (services: { ledger: Pick<Ledger, 'list'> }) => {
  const os = implement(contract.ledger);
  return os.router({ list: os.list.handler(({ input }) => services.ledger.list(input)) });
};
