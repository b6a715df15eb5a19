import { appHost, appOrigin, appScheme } from '../../shared/contract/pageLink.ts';

/**
 * Whether an address belongs to the app's own page. The whole parsed origin is compared: `app://sotto.evil`, `app://sotto:1` and
 * `app://me@sotto` are others (RB-02).
 */
export function isOurAddress(address: string): boolean {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return false;
  }
  return url.protocol === `${appScheme}:` && url.hostname === appHost && url.port === '' && url.username === '' && url.password === '';
}

/** What we need to know of the frame that asks. */
export type AskingFrame = { readonly url: string; readonly origin: string; readonly parent: unknown };

/** Only the main frame of our own page may have a port. A frame that is already gone (`null`) may not. */
export function isOurMainFrame(frame: AskingFrame | null | undefined): boolean {
  return frame !== null && frame !== undefined && frame.parent === null && frame.origin === appOrigin && isOurAddress(frame.url);
}

/** What may leave for the person's browser or mail program. */
export function outsideAddress(address: string): URL | null {
  try {
    const url = new URL(address);
    return url.protocol === 'https:' || url.protocol === 'mailto:' ? url : null;
  } catch {
    return null;
  }
}
