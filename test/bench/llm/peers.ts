import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLibraryFile, findLlamaFolder } from '../../../native/core/find.ts';

/** The release of node-llama-cpp that carries the source of the very llama.cpp that we load (`llama/gitRelease.bundle`). */
const RELEASE = 'node-llama-cpp@3.21.1';
const cache = join(homedir(), '.cache', 'sotto');

/** `perCpuSecond` leaves out the time in which others held the processor: one thread's speed on a machine that is not quiet. */
export type Speed = { readonly perSecond: number; readonly perCpuSecond: number };

/** llama.cpp's own benchmark program, run over our library files. */
export type LlamaBench = {
  /** Best of two samples (per CPU second: their mean). `prompt` or `output` tokens at `depth`. */
  run(what: { prompt?: number; output?: number; depth?: number; threads: number }): Promise<Speed>;
  /** Name of the CPU library that it chose. */
  cpuVariant(): string;
  [Symbol.dispose](): void;
};

/**
 * Builds llama-bench once (recipe R2) and puts it into a folder in which every library name leads to the prebuilt files that the engine
 * loads: what differs is then the program, not the compiler.
 */
export function llamaBench(model: string): LlamaBench {
  const built = join(cache, 'llama-bench-v0.4.0');
  if (!existsSync(join(built, 'llama-bench'))) build(built);
  const dir = mkdtempSync(join(tmpdir(), 'sotto-llama-bench-'));
  const { folder } = findLlamaFolder({});
  for (const file of ['llama-bench', 'libllama-bench-impl.so']) cpSync(join(built, file), join(dir, file));
  for (const file of readdirSync(folder)) if (file.endsWith('.so')) symlinkSync(join(folder, file), join(dir, file));
  // The names that the program asks for; they lead to the same files as the libraries' own names, so each is loaded once.
  symlinkSync(findLibraryFile(folder, 'llama'), join(dir, 'libllama.so.0'));
  symlinkSync(findLibraryFile(folder, 'ggml'), join(dir, 'libggml.so.0'));
  for (const stem of ['ggml-base', 'llama-common']) symlinkSync(findLibraryFile(folder, stem), join(dir, `lib${stem}.so.0`));
  let variant = 'unknown';
  return {
    async run({ prompt = 0, output = 0, depth = 0, threads }) {
      const args = [
        '-m',
        model,
        '-t',
        threads,
        '-p',
        prompt,
        '-n',
        output,
        '-d',
        depth,
        '-r',
        2,
        '-fa',
        0,
        '-ctk',
        'f16',
        '-ctv',
        'f16',
        '-o',
        'jsonl',
      ];
      // Bash knows what the program used of the processor: nearly all of it is the measured work, on `threads` threads.
      const timed = ['-c', 'TIMEFORMAT="times %R %U %S"; time "$@"', 'bash', join(dir, 'llama-bench'), ...args.map(String)];
      const { stdout, stderr } = await runProgram('bash', timed, { LD_LIBRARY_PATH: dir });
      variant = /ggml-cpu-([A-Za-z0-9_.]+?)\.so/.exec(stderr)?.[1] ?? variant;
      const line = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { samples_ts: number[]; avg_ts: number };
      const [, real, user, system] = /times ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stderr)?.map(Number) ?? [];
      const share = ((user ?? 0) + (system ?? 0)) / (real ?? 1);
      return { perSecond: Math.max(...line.samples_ts), perCpuSecond: line.avg_ts / share };
    },
    cpuVariant: () => variant,
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function build(into: string): void {
  console.error('llama-bench is built once, from the source that comes with the library (some minutes)');
  const work = mkdtempSync(join(tmpdir(), 'sotto-build-'));
  const run = (program: string, args: readonly string[], cwd = work) =>
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    run('npm', ['pack', '--silent', RELEASE]);
    run('tar', ['xzf', readdirSync(work).find((file) => file.endsWith('.tgz')) ?? '']);
    run('git', ['clone', '--quiet', join(work, 'package', 'llama', 'gitRelease.bundle'), 'llama.cpp']);
    const off = ['CURL', 'OPENSSL', 'BUILD_TESTS', 'BUILD_EXAMPLES', 'BUILD_UI'].map((name) => `-DLLAMA_${name}=OFF`);
    run('cmake', ['-GNinja', '-DGGML_NATIVE=ON', ...off, '-B', 'build'], join(work, 'llama.cpp'));
    run('cmake', ['--build', 'build', '--target', 'llama-bench'], join(work, 'llama.cpp'));
    mkdirSync(into, { recursive: true });
    cpSync(join(work, 'llama.cpp', 'build', 'bin'), into, { recursive: true, verbatimSymlinks: true });
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** node-llama-cpp itself, over the same library package; installed beside the project, never into it. */
export function nodeLlamaCpp(model: string): { decode(options: { prompt: string; output: number; threads: number }): Promise<Speed> } {
  const dir = join(cache, 'node-llama-cpp');
  const modules = join(dir, 'node_modules');
  if (!existsSync(join(modules, 'node-llama-cpp'))) {
    mkdirSync(dir, { recursive: true });
    // Its optional packages are libraries for every device, some hundreds of megabytes: ours is there already.
    execFileSync('npm', ['install', '--prefix', dir, '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', RELEASE], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const { folder, name } = findLlamaFolder({});
  const link = join(modules, '@node-llama-cpp', name);
  if (!existsSync(link)) {
    mkdirSync(join(modules, '@node-llama-cpp'), { recursive: true });
    symlinkSync(join(folder, '..', '..'), link);
  }
  const script = join(import.meta.dirname, 'nodeLlamaCpp.mjs');
  return {
    async decode({ prompt, output, threads }) {
      const settings = JSON.stringify({ entry: join(modules, 'node-llama-cpp', 'dist', 'index.js'), model, prompt, output, threads });
      const { stdout } = await runProgram(process.execPath, [script, settings], {});
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Speed;
    },
  };
}

function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve({ stdout, stderr }) : reject(new Error(`${program} ended with ${code}: ${stderr.slice(-500)}`)),
    );
  });
}
