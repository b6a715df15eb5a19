import { readdirSync } from 'node:fs';
import path from 'node:path';

export type PageFile = { readonly file: string; readonly type: string };

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The fixed list of what the page may load: address path → file. It is made once; a name from an address never reaches the disk.
 *
 * @param folder  the built page; when it does not exist the list is empty.
 */
export function listPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  walk(folder, '', files);
  const index = files.get('/index.html');
  if (index !== undefined) files.set('/', index);
  return files;
}

function walk(folder: string, prefix: string, files: Map<string, PageFile>): void {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    const address = `${prefix}/${entry.name}`;
    if (entry.isDirectory()) walk(file, address, files);
    else if (entry.isFile()) {
      const type = types[path.extname(entry.name)];
      if (type !== undefined) files.set(address, { file, type });
    }
  }
}
