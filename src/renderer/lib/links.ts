/** An address that a person may open from a message: https, http or mailto, nothing else (RB-04). */
export type SafeLink = { readonly href: string; readonly host: string };

export function safeLink(address: string | undefined): SafeLink | null {
  if (address === undefined) return null;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  if (url.protocol === 'mailto:') return { href: url.href, host: decodeSafely(url.pathname) };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  // Name and password in an address only serve to hide its true host.
  if (url.username !== '' || url.password !== '') return null;
  return { href: url.href, host: url.host };
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
