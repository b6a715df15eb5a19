import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../shared/errors/appError.ts';
import type { Paths } from '../platform/ports.ts';
import type { Keys } from '../store/keys.ts';
import { askHealth } from './client.ts';

const Discovery = z.strictObject({ url: z.url(), instance: z.string().min(1), startedAt: z.string() });
/** What `http.json` holds while a server listens (SV-05). Never a key. */
export type Discovery = z.infer<typeof Discovery>;

export async function writeDiscovery(paths: Pick<Paths, 'httpJson'>, discovery: Discovery): Promise<void> {
  await writePrivate(paths.httpJson, `${JSON.stringify(discovery)}\n`);
}

/** Takes `http.json` away if it is still ours: a later server of this folder may have written its own. */
export async function removeDiscovery(paths: Pick<Paths, 'httpJson'>, instance: string): Promise<void> {
  if ((await readDiscovery(paths))?.instance === instance) await rm(paths.httpJson, { force: true });
}

async function readDiscovery(paths: Pick<Paths, 'httpJson'>): Promise<Discovery | null> {
  try {
    const parsed = Discovery.safeParse(JSON.parse(await readFile(paths.httpJson, 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The server that holds this data folder, or null. A file that a crash left behind, or a port that others took since, is no server. */
export async function findServer(paths: Pick<Paths, 'httpJson'>): Promise<Discovery | null> {
  const found = await readDiscovery(paths);
  if (found === null) return null;
  const health = await askHealth(found.url);
  return health !== null && health.instance === found.instance ? found : null;
}

/**
 * The command line's key (SV-11): made at the first start, and again when its file is lost or its key was revoked.
 *
 * @throws AppError STORE_IO when the file cannot be written.
 */
export async function ensureToken(paths: Pick<Paths, 'httpToken'>, keys: Keys): Promise<void> {
  const present = await readToken(paths);
  if (present !== null && keys.verify(present, null) !== null) {
    await chmod(paths.httpToken, 0o600);
    return;
  }
  // An older one whose file is gone is of no use to anybody we know.
  for (const key of keys.list()) if (key.name === tokenName && key.kind === 'key' && key.revokedAt === null) keys.revoke(key.id);
  const { secret } = keys.create(tokenName);
  try {
    await writePrivate(paths.httpToken, `${secret}\n`);
  } catch (cause) {
    throw new AppError('STORE_IO', {}, { cause });
  }
}

const tokenName = 'command line of this machine';

export async function readToken(paths: Pick<Paths, 'httpToken'>): Promise<string | null> {
  try {
    const text = (await readFile(paths.httpToken, 'utf8')).trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}

/** Whole or not at all, and readable by its owner alone from its first byte on. */
async function writePrivate(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.new`;
  await rm(fresh, { force: true });
  await writeFile(fresh, text, { mode: 0o600, flag: 'wx' });
  await rename(fresh, file);
}
