import { AppError } from '../../src/shared/errors/appError.ts';
import { type Bound, bind, hasSymbol } from '../core/bind.ts';
import { findLibraryFile, findLlamaFolder, firstWrongFile } from '../core/find.ts';
import type { Pointer } from '../core/handle.ts';
import { type KoffiLibrary, koffi } from '../core/koffi.ts';
import { libraryHashes } from './libraryHashes.ts';
import { createLogCollector } from './log.ts';
import { loadModel, type ModelLoadOptions } from './model.ts';
import type { LlamaModel } from './modelType.ts';
import { defaultPatterns, families, LIBRARY_VERSION, signatures, structs } from './signatures.ts';

export type LlamaApi = Bound<typeof signatures, typeof structs>;

/** `true`, or why the family is off (ABI-03). */
export type Capabilities = Readonly<Record<string, true | string>>;

export type Llama = {
  readonly version: string;
  readonly cpuVariant: string;
  readonly capabilities: Capabilities;
  loadModel(options: ModelLoadOptions): Promise<LlamaModel>;
  /** Takes the log callback back, so that nothing of the library calls into a JavaScript that is ending. */
  close(): void;
};

/**
 * Finds, checks and loads llama.cpp (ABI-02): file hashes, load, version string, bytes of the default structs, required symbols,
 * optional families, CPU backend. Once per process. No other library is tried when a step fails.
 *
 * @throws AppError NATIVE_LIBRARY_MISSING, NATIVE_ABI_MISMATCH {library, expected, found}.
 */
export async function loadLlama(env: Readonly<Record<string, string | undefined>> = process.env): Promise<Llama> {
  const { folder, name, origin } = findLlamaFolder(env);
  if (origin === 'package') {
    const wrong = firstWrongFile(folder, libraryHashes[name] ?? {});
    if (wrong !== null)
      throw mismatch(wrong.file, `sha256 ${wrong.expected}`, wrong.found === 'missing' ? 'missing' : `sha256 ${wrong.found}`);
  }
  // `global`: each library finds the symbols of the one before.
  const open = (stem: string): KoffiLibrary => {
    const file = findLibraryFile(folder, stem);
    try {
      return koffi().load(file, { global: true });
    } catch (error) {
      throw new AppError('NATIVE_LIBRARY_MISSING', { library: stem }, { cause: error });
    }
  };
  open('ggml-base');
  const ggml = open('ggml');
  const llama = open('llama');

  const version = readVersion(llama);
  if (version !== LIBRARY_VERSION) throw mismatch('llama', LIBRARY_VERSION, version);
  for (const [symbol, pattern] of Object.entries(defaultPatterns)) checkDefaults(llama, symbol, pattern);
  const { bound: api, missing } = bind({ ggml, llama }, signatures, structs);
  if (missing.length > 0) throw mismatch('llama', missing.slice(0, 8).join(', '), 'missing');

  const log = createLogCollector();
  const logCallback = koffi().register(
    (level: number, text: string | null) => log.add(level, text),
    koffi().pointer(koffi().proto('void', ['int', 'str', 'void *'])),
  ) as Pointer;
  api.llama_log_set(logCallback, null);
  await api.ggml_backend_load_all_from_path(folder);
  if (Number(api.ggml_backend_dev_count()) === 0) throw mismatch('ggml', 'a CPU backend for this machine', 'none');
  api.llama_backend_init();

  return {
    version,
    cpuVariant: log.cpuVariant(),
    capabilities: capabilitiesOf(llama),
    loadModel: (options) => loadModel(api, log, options),
    close() {
      api.llama_log_set(null, null);
      koffi().unregister(logCallback);
    },
  };
}

function mismatch(library: string, expected: string, found: string): AppError {
  return new AppError('NATIVE_ABI_MISMATCH', { library, expected, found });
}

function readVersion(library: KoffiLibrary): string {
  if (!hasSymbol(library, 'llama_version')) return 'no llama_version';
  const text: unknown = library.func('llama_version', 'str', [])();
  return typeof text === 'string' ? text : 'null';
}

/**
 * Compares a default struct byte by byte. It is read as 512 bytes: a struct over 16 bytes comes back through memory that the caller
 * gives, so a longer one than recorded stays inside.
 */
function checkDefaults(library: KoffiLibrary, symbol: string, pattern: readonly string[]): void {
  if (!hasSymbol(library, symbol)) throw mismatch('llama', symbol, 'missing');
  const raw = koffi().struct({ bytes: koffi().array('uint8', 512, 'Typed') });
  const result = library.func(symbol, raw, [])() as { bytes: Uint8Array };
  const expected = pattern.join('').replaceAll(' ', '');
  let found = '';
  let same = true;
  for (let i = 0; i < expected.length / 2; i += 1) {
    const want = expected.slice(2 * i, 2 * i + 2);
    const have = (result.bytes[i] ?? 0).toString(16).padStart(2, '0');
    found += want === '..' ? '..' : have;
    if (want !== '..' && want !== have) same = false;
  }
  if (!same) throw mismatch(`llama: ${symbol}`, expected, found);
}

function capabilitiesOf(library: KoffiLibrary): Capabilities {
  const capabilities: Record<string, true | string> = { text: true };
  for (const [family, symbols] of Object.entries(families)) {
    const missing = symbols.filter((symbol) => !hasSymbol(library, symbol));
    capabilities[family] = missing.length === 0 ? true : `the library lacks ${missing.join(', ')}`;
  }
  return capabilities;
}
