import type { Machine } from '../platform/machine.ts';
import type { Logger } from '../platform/ports.ts';
import type { EngineSettings } from './ports.ts';

/** Reads what the environment fixes. A bad value is reported and left out, never half used (CFG-02). */
export function engineSettings(
  env: Readonly<Record<string, string | undefined>>,
  machine: Pick<Machine, 'logicalCores'>,
  log: Logger,
): EngineSettings {
  const read = (name: string, min: number, max: number, form = /^[0-9]{1,9}$/): number | null => {
    const text = env[name];
    if (text === undefined || text === '') return null;
    const value = form.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    log.warn('settings.ignored', { name, min, max });
    return null;
  };
  return {
    threads: read('SOTTO_THREADS', 1, machine.logicalCores()),
    contextSize: read('SOTTO_CONTEXT', 256, 1_048_576),
    temperature: read('SOTTO_TEMPERATURE', 0, 2, /^[0-2](\.[0-9]{1,3})?$/),
  };
}

/** One core stays free for window, runtime and sound: with all cores taken the decode loop waits for its slowest thread. */
export function threadsFor(settings: EngineSettings, machine: Pick<Machine, 'physicalCores'>): number {
  return settings.threads ?? Math.max(1, machine.physicalCores() - 1);
}
