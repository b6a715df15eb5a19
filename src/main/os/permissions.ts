import type { Session } from 'electron';
import { isOurAddress } from '../app/origin.ts';
import type { MainLog } from '../log.ts';

/** All that the page may have. The microphone comes with voice, together with its policy. */
const allowed: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

/**
 * @param permission  Electron's name of it.
 * @param address     the origin or address that asks.
 * @param mainFrame   whether the asking frame is the window's own.
 */
export function mayHave(permission: string, address: string, mainFrame: boolean): boolean {
  return allowed.has(permission) && mainFrame && isOurAddress(address);
}

/** Refuses every permission but those of `mayHave`, for requests and for quiet checks alike; devices and screens always. */
export function guardPermissions(session: Session, log: MainLog): void {
  session.setPermissionRequestHandler((_contents, permission, answer, details) => {
    const granted = mayHave(permission, details.requestingUrl, details.isMainFrame);
    if (!granted) log.warn('permission.refused', { permission });
    answer(granted);
  });
  session.setPermissionCheckHandler((_contents, permission, origin, details) => mayHave(permission, origin, details.isMainFrame));
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, answer) => answer({}));
}
