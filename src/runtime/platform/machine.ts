import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, freemem, totalmem } from 'node:os';

/** What loading a model needs to know of this machine. Sizes are bytes. */
export type Machine = {
  totalBytes(): number;
  /** What programs can still take without pushing others out. */
  availableBytes(): number;
  physicalCores(): number;
  logicalCores(): number;
};

/** The machine as the system describes it; read anew at each call, since memory moves. */
export function createMachine(read: (file: string) => string | null = readText): Machine {
  return {
    totalBytes: () => totalmem(),
    // "Free" on Linux leaves out caches that are given back at once: 180 MB against 6 GB on a working machine.
    availableBytes: () => memAvailable(read('/proc/meminfo')) ?? freemem(),
    physicalCores: () => Math.max(1, coresOf(read('/proc/cpuinfo')) ?? guessCores()),
    logicalCores: () => availableParallelism(),
  };
}

/**
 * Memory that a process holds now, `null` where the system does not say.
 *
 * @source proc_pid_status(5), `VmRSS`
 */
export function residentBytes(pid: number | null, read: (file: string) => string | null = readText): number | null {
  const found = pid === null ? null : /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '');
  return found?.[1] === undefined ? null : Number(found[1]) * 1024;
}

/** `MemAvailable` of /proc/meminfo in bytes. @source proc_meminfo(5) */
export function memAvailable(text: string | null): number | null {
  const found = /^MemAvailable:\s+(\d+) kB$/m.exec(text ?? '');
  return found?.[1] === undefined ? null : Number(found[1]) * 1024;
}

/** Distinct pairs of socket and core in /proc/cpuinfo; `null` where the kernel doesn't say (ARM). */
export function coresOf(text: string | null): number | null {
  const cores = new Set<string>();
  for (const block of (text ?? '').split('\n\n')) {
    const socket = /^physical id\s*:\s*(\d+)$/m.exec(block)?.[1];
    const core = /^core id\s*:\s*(\d+)$/m.exec(block)?.[1];
    if (socket !== undefined && core !== undefined) cores.add(`${socket}/${core}`);
  }
  // A container may see fewer processors than the file lists.
  return cores.size === 0 ? null : Math.min(cores.size, availableParallelism());
}

/** Two threads a core on x64, one on ARM. */
function guessCores(): number {
  const logical = Math.min(cpus().length || 1, availableParallelism());
  return process.arch === 'x64' ? Math.ceil(logical / 2) : logical;
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
