import { arch, cpus, platform } from 'node:os';
import type { MachineInfo } from '../../shared/contract/machine.ts';
import type { LanguageStatus } from '../../shared/domain/models.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import { downloadLimits } from '../models/limits.ts';
import type { Files } from '../platform/files.ts';
import type { Machine } from '../platform/machine.ts';

/**
 * What is known of this machine, in one look (UX-21).
 *
 * @param deps.processor  its maker's name for it; default: as the system says.
 */
export function createMachineInfo(deps: {
  machine: Machine;
  files: Pick<Files, 'freeBytes'>;
  modelsDir: string;
  language: Pick<LiveValue<LanguageStatus>, 'get'>;
  offline: () => boolean;
  processor?: () => string | null;
}): () => Promise<MachineInfo> {
  const { machine, files, modelsDir, language, offline, processor = nameOfProcessor } = deps;
  return async () => ({
    platform: platform(),
    architecture: arch(),
    processor: processor(),
    threads: machine.logicalCores(),
    memory: { totalBytes: machine.totalBytes(), freeBytes: Math.min(machine.totalBytes(), machine.availableBytes()) },
    disk: { freeBytes: await files.freeBytes(modelsDir), keptFreeBytes: downloadLimits.diskMargin },
    cpuVariant: language.get().cpuVariant,
    offline: offline(),
  });
}

/** Virtual machines and ARM give an empty name, or the word "unknown". */
function nameOfProcessor(): string | null {
  const name = cpus()[0]?.model.replaceAll(/\s+/g, ' ').trim() ?? '';
  return name === '' || /^unknown$/i.test(name) ? null : name;
}
