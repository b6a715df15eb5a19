import type { Session } from 'electron';
import { appScheme } from '../../shared/contract/pageLink.ts';
import type { MainLog } from '../log.ts';

/** What a page of ours loads: its own scheme, and what it makes itself (CSP allows these two for pictures and sound only). */
const ours: ReadonlySet<string> = new Set([`${appScheme}:`, 'blob:', 'data:']);
const tools: ReadonlySet<string> = new Set(['devtools:', 'chrome-extension:']);

/** @param developer  whether developer tools may load their own pages. */
export function mayLoad(address: string, developer: boolean): boolean {
  const scheme = /^[a-z][a-z0-9+.-]*:/.exec(address)?.[0] ?? '';
  return ours.has(scheme) || (developer && tools.has(scheme));
}

/** Windows have no network: the runtime is the one door (PV-03). Chromium's own background fetches end here too. */
export function closeNetwork(session: Session, developer: boolean, log: MainLog): void {
  session.webRequest.onBeforeRequest((details, answer) => {
    const cancel = !mayLoad(details.url, developer);
    if (cancel) log.warn('request.refused', { kind: details.resourceType });
    answer({ cancel });
  });
  session.setSpellCheckerEnabled(false);
  session.on('will-download', (event) => {
    log.warn('download.refused');
    event.preventDefault();
  });
}
