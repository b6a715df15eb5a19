/** How a target is reached: straight, through a plain HTTP proxy, or not at all because the proxy is of a kind we do not speak. */
export type Route = { readonly kind: 'direct' } | { readonly kind: 'proxy'; readonly proxy: URL } | { readonly kind: 'unsupported' };

/**
 * Reads the usual proxy variables for one target. Only the simple form is honoured: an `http://` proxy, with or without a name and
 * password. Any other kind is `unsupported` and never skipped: a person who set a proxy does not want to be seen going around it.
 *
 * @param target  address of the request.
 * @param env     HTTPS_PROXY, HTTP_PROXY, NO_PROXY, in either case.
 */
export function proxyFor(target: URL, env: Readonly<Record<string, string | undefined>>): Route {
  const read = (name: string) => env[name] || env[name.toLowerCase()] || '';
  const setting = target.protocol === 'https:' ? read('HTTPS_PROXY') : read('HTTP_PROXY');
  if (setting === '' || isExempt(target, read('NO_PROXY'))) return { kind: 'direct' };
  // `host:port` alone would read as an address with the scheme `host:`.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(setting) ? setting : `http://${setting}`;
  if (!URL.canParse(address)) return { kind: 'unsupported' };
  const proxy = new URL(address);
  return proxy.protocol === 'http:' ? { kind: 'proxy', proxy } : { kind: 'unsupported' };
}

/** NO_PROXY: a comma list of hosts, `.suffix` or `suffix` forms, an optional port, or `*`. Loopback is always exempt. */
function isExempt(target: URL, list: string): boolean {
  const host = bareHost(target.hostname);
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return true;
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list.split(/[\s,]+/).some((raw) => {
    const item = raw.toLowerCase();
    if (item === '') return false;
    if (item === '*') return true;
    const [, name = '', onlyPort] = /^(.*?)(?::(\d+))?$/.exec(item) ?? [];
    if (onlyPort !== undefined && onlyPort !== port) return false;
    const suffix = name.replace(/^\*?\./, '');
    return host === suffix || host.endsWith(`.${suffix}`);
  });
}

/** A host without the brackets of an IPv6 address, in lower case. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '').toLowerCase();
}
