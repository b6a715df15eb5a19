import { readFile } from 'node:fs/promises';
import { protocol, type Session } from 'electron';
import { appScheme } from '../../shared/contract/pageLink.ts';
import { isOurAddress } from './origin.ts';
import type { PageFile } from './pageFiles.ts';
import { pageHeaders } from './pageHeaders.ts';

/** Makes `app:` a standard, secure scheme. To be called once, before the app is ready. */
export function registerAppScheme(): void {
  // `codeCache` is unknown to the oldest Electron, which ignores it.
  const privileges = { standard: true, secure: true, supportFetchAPI: true, corsEnabled: true, codeCache: true };
  protocol.registerSchemesAsPrivileged([{ scheme: appScheme, privileges }]);
}

/** Answers `app://sotto/…` from the list, and everything else of the scheme with 404. */
export function serveApp(session: Session, files: ReadonlyMap<string, PageFile>): void {
  session.protocol.handle(appScheme, async (request) => {
    const found = request.method === 'GET' && isOurAddress(request.url) ? files.get(new URL(request.url).pathname) : undefined;
    if (found === undefined) return new Response('Not found', { status: 404, headers: { ...pageHeaders, 'content-type': 'text/plain' } });
    const body = await readFile(found.file);
    return new Response(body, { headers: { ...pageHeaders, 'content-type': found.type } });
  });
}
