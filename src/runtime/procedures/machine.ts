import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { MachineInfo } from '../../shared/contract/machine.ts';

export const machineProcedures = (s: { machineInfo: () => Promise<MachineInfo> }) => {
  const os = implement(contract.machine);
  return os.router({ info: os.info.handler(() => s.machineInfo()) });
};
