import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AppError } from '../../src/shared/errors/appError.ts';

/** The platform package of each machine that we ship for; one folder of libraries each, named like the package. */
const platformPackages: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'win32-x64': 'win-x64',
};

/** Where a set of shared libraries lies, and by whose word: `package` = pinned by the lock file, `override` = named by a developer. */
export type LibraryFolder = { readonly folder: string; readonly name: string; readonly origin: 'package' | 'override' };

/**
 * Finds the folder of the prebuilt llama.cpp libraries of this machine. Reads no library and loads nothing.
 *
 * @param env  `SOTTO_INFERENCE_LIB_DIR` names another folder (tests, `native/fake`, a library that a developer built).
 * @throws AppError NATIVE_LIBRARY_MISSING if neither the override nor the platform package is there.
 */
export function findLlamaFolder(env: Readonly<Record<string, string | undefined>> = process.env): LibraryFolder {
  const override = env['SOTTO_INFERENCE_LIB_DIR'];
  if (override !== undefined && override !== '') {
    if (!existsSync(override)) throw new AppError('NATIVE_LIBRARY_MISSING', { library: 'llama (SOTTO_INFERENCE_LIB_DIR)' });
    return { folder: override, name: 'override', origin: 'override' };
  }
  const machine = `${process.platform}-${process.arch}`;
  const name = platformPackages[machine];
  if (name === undefined) throw new AppError('NATIVE_LIBRARY_MISSING', { library: `llama (${machine})` });
  try {
    // The package exports its main file alone; the libraries lie beside it.
    const main = createRequire(import.meta.url).resolve(`@node-llama-cpp/${name}`);
    const folder = join(dirname(dirname(main)), 'bins', name);
    if (existsSync(folder)) return { folder, name, origin: 'package' };
  } catch {
    // Not installed on this machine: said below.
  }
  throw new AppError('NATIVE_LIBRARY_MISSING', { library: `@node-llama-cpp/${name}` });
}

/**
 * The one file of a folder whose name fits, e.g. `libllama.v0.4.0.so`, `llama.dll`.
 *
 * @param stem  library name without prefix, version and ending: `llama`, `ggml`, `ggml-base`.
 * @throws AppError NATIVE_LIBRARY_MISSING.
 */
export function findLibraryFile(folder: string, stem: string): string {
  const pattern = new RegExp(`^(lib)?${stem}(\\.[a-z0-9.]+)?\\.(so|dylib|dll)$`);
  const found = readdirSync(folder).find((file) => pattern.test(file));
  if (found === undefined) throw new AppError('NATIVE_LIBRARY_MISSING', { library: stem });
  return join(folder, found);
}

/**
 * Compares the files of a folder with recorded SHA-256 values; files that the record does not name are left alone.
 *
 * @returns null, or the first file that differs.
 */
export function firstWrongFile(
  folder: string,
  expected: Readonly<Record<string, string>>,
): { readonly file: string; readonly expected: string; readonly found: string } | null {
  for (const [file, hash] of Object.entries(expected)) {
    const path = join(folder, file);
    const found = existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'missing';
    if (found !== hash) return { file, expected: hash, found };
  }
  return null;
}
