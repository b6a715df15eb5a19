import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Switches of native/fake/fake.c, without the prefix. */
export type FakeSwitches = Readonly<Record<string, string | number>>;

export type FakeLlama = {
  /** Folder to give as SOTTO_INFERENCE_LIB_DIR. */
  readonly dir: string;
  /** Environment that makes an engine use it. */
  readonly env: Readonly<Record<string, string>>;
  /** A file that passes for a model. */
  readonly model: string;
  /** Replaces all switches; the library reads them anew at each question. */
  set(switches: FakeSwitches): void;
  /** One line per call of the library so far. */
  calls(): string[];
  [Symbol.dispose](): void;
};

const source = join(dirname(fileURLToPath(import.meta.url)), '../../native/fake/fake.c');
const libraries = { FAKE_BASE: 'libggml-base.so', FAKE_GGML: 'libggml.v0.4.0.so', FAKE_LLAMA: 'libllama.v0.4.0.so' } as const;

/** Compiles once per state of the source and set of defines; later calls copy. */
function built(defines: readonly string[]): string {
  const key = createHash('sha256').update(readFileSync(source)).update(defines.join()).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `sotto-fake-llama-${key}`);
  if (existsSync(folder)) return folder;
  const making = mkdtempSync(join(tmpdir(), 'sotto-fake-build-'));
  for (const [define, file] of Object.entries(libraries)) {
    const flags = [define, ...defines].map((name) => `-D${name}`);
    execFileSync('cc', ['-shared', '-fPIC', '-O1', ...flags, source, '-o', join(making, file), '-ldl'], { stdio: 'pipe' });
  }
  try {
    renameSync(making, folder);
  } catch {
    // Another test process was faster.
    rmSync(making, { recursive: true, force: true, maxRetries: 5 });
  }
  return folder;
}

/**
 * A fake llama.cpp in a folder of its own, with real FFI and real faults.
 *
 * @param defines  build variants: FAKE_NO_GRAMMAR, FAKE_NO_EMBED leave symbols out.
 */
export function fakeLlama(switches: FakeSwitches = {}, defines: readonly string[] = []): FakeLlama {
  const from = built(defines);
  const dir = mkdtempSync(join(tmpdir(), 'sotto-fake-'));
  for (const file of Object.values(libraries)) copyFileSync(join(from, file), join(dir, file));
  mkdirSync(join(dir, 'log'));
  const log = join(dir, 'log', 'calls');
  const model = join(dir, 'model.gguf');
  writeFileSync(model, Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(60)]));
  const set = (next: FakeSwitches) => {
    const lines = Object.entries({ CALLS: log, ...next }).map(([key, value]) => `${key}=${value}\n`);
    writeFileSync(join(dir, 'fake.conf'), lines.join(''));
  };
  set(switches);
  return {
    dir,
    env: { SOTTO_INFERENCE_LIB_DIR: dir },
    model,
    set,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Output pieces for the switch PIECES, from texts or bytes. */
export function pieces(...list: readonly (string | Uint8Array)[]): string {
  return list.map((piece) => Buffer.from(piece).toString('hex')).join(',');
}
