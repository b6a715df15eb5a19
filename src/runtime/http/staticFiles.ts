import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { permissionsPolicy } from '../../shared/contract/permissionsPolicy.ts';
import { httpLimits } from './limits.ts';
import { commonHeaders, type Reply } from './replies.ts';

export type StaticFiles = {
  /** Address paths of all files but the page itself. */
  readonly paths: readonly string[];
  /** The file of one of `paths`, or null. */
  read(path: string): Promise<Reply | null>;
  /** index.html with the policy of the page, or null when the page is not built. */
  page(host: string): Promise<Reply | null>;
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/**
 * The built page from a list that is made once: what was not there at the start is not served, and no path of a request ever reaches
 * the file system.
 *
 * @param dir  folder with index.html, or null when there is no page.
 */
export async function createStaticFiles(dir: string | null): Promise<StaticFiles> {
  const files = new Map<string, { file: string; type: string }>();
  if (dir !== null) {
    for (const entry of await listFiles(dir)) {
      const type = types[extname(entry)];
      if (type === undefined || files.size >= httpLimits.staticFiles) continue;
      files.set(`/${relative(dir, entry).split(sep).join('/')}`, { file: entry, type });
    }
  }
  const index = files.get('/index.html');
  files.delete('/index.html');
  const reply = async (entry: { file: string; type: string }, more: Readonly<Record<string, string>>): Promise<Reply> => ({
    status: 200,
    headers: { ...commonHeaders, 'content-type': entry.type, ...more },
    body: await readFile(entry.file),
  });
  return {
    paths: [...files.keys()],
    async read(path) {
      const entry = files.get(path);
      return entry === undefined ? null : reply(entry, { 'content-security-policy': filePolicy });
    },
    page: async (host) =>
      index === undefined ? null : reply(index, { 'content-security-policy': pagePolicy(host), 'permissions-policy': permissionsPolicy }),
  };
}

async function listFiles(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

// A picture or style that is opened by itself must not run anything.
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The policy of robustness.md, section 5, for http: no `preview:` scheme here, and the socket named beside 'self'. */
function pagePolicy(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    `connect-src 'self' ws://${host} wss://${host}`,
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
