import { AppError } from '../../src/shared/errors/appError.ts';

const MAX_LINES = 400;
const ERROR_LEVEL = 4;
const CONTINUED = 5;

/** What the library says while it works. Lines may name files of the user: they stay in this process, only `explain` lets words out. */
export type LogCollector = {
  /** For the C callback: never throws. `level` 1 debug, 2 info, 3 warning, 4 error, 5 the line before goes on. */
  add(level: number, text: string | null): void;
  /** Forgets lines, not the CPU variant: call it before the operation that `explain` shall speak of. */
  clear(): void;
  /** Name of the CPU library that was chosen on this machine, e.g. `haswell`; `unknown` if none was named. */
  cpuVariant(): string;
  /** Why a load or a context failed. `what` is the stage; without a hint the answer is `otherwise`. */
  explain(what: string, otherwise: (reason: string) => AppError): AppError;
};

export function createLogCollector(): LogCollector {
  let lines: { level: number; text: string }[] = [];
  let variant = 'unknown';
  return {
    add(level, text) {
      if (text === null) return;
      const last = lines.at(-1);
      if (level === CONTINUED && last !== undefined) last.text = (last.text + text).slice(0, 2000);
      else lines.push({ level, text: text.slice(0, 2000) });
      if (lines.length > MAX_LINES) lines = lines.slice(-MAX_LINES / 2);
      const named = /load_backend: loaded CPU backend from .*ggml-cpu-([A-Za-z0-9_.]+?)\.(?:so|dylib|dll)\b/.exec(text);
      if (named?.[1] !== undefined) variant = named[1];
    },
    clear() {
      lines = [];
    },
    cpuVariant: () => variant,
    explain(what, otherwise) {
      const errors = lines.filter((line) => line.level === ERROR_LEVEL).map((line) => line.text.trim());
      const all = errors.join('\n');
      const architecture = /unknown model architecture: '([^']{0,64})'/.exec(all);
      if (architecture !== null) return new AppError('MODEL_ARCH_UNSUPPORTED', { architecture: architecture[1] ?? '' });
      if (
        /(failed|unable) to (re)?allocate|cannot allocate|out of memory|bad_alloc|failed to (initialize|create) .*(buffer|cache)/i.test(all)
      ) {
        return new AppError('OUT_OF_MEMORY', { stage: what });
      }
      return otherwise(plainReason(errors));
    },
  };
}

/** The first error line in a form that may leave the process: no paths, no quotes from the file, bounded. */
function plainReason(errors: readonly string[]): string {
  const all = errors.join('\n');
  if (/not within the file bounds|corrupted or incomplete|failed to read|unexpectedly reached end of file/i.test(all)) return 'truncated';
  if (/invalid magic|bad magic|invalid file magic/i.test(all)) return 'not a GGUF file';
  if (/failed to open|No such file/i.test(all)) return 'missing or unreadable';
  if (/missing tensor|tensor '.*' (not found|has wrong shape)|wrong number of tensors/i.test(all))
    return 'tensors missing or of the wrong shape';
  if (/key not found in model/i.test(all)) return 'metadata incomplete';
  if (/invalid|failed to (load|parse)/i.test(all)) return 'contents invalid';
  return 'refused by the library';
}
