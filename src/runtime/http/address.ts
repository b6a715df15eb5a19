/** The names by which this server may be called. Made once the port is known. */
export type Addresses = {
  /** Lower-case `Host` values that are ours. */
  readonly hosts: ReadonlySet<string>;
  /** Origins that count as our own when the request came to `host`. */
  originsOf(host: string): readonly string[];
};

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'] as const;

/**
 * @param port     the bound port.
 * @param allowed  further hosts (`--allowed-host`), as `name` or `name:port`; a bare name also stands for itself with our port.
 */
export function createAddresses(port: number, allowed: readonly string[]): Addresses {
  const loopback = new Set(loopbackNames.map((name) => `${name}:${port}`));
  // A browser leaves out the port of its scheme.
  if (port === 80) for (const name of loopbackNames) loopback.add(name);
  const remote = new Set(
    allowed.map((host) => host.toLowerCase()).flatMap((host) => (/:\d+$/.test(host) ? [host] : [host, `${host}:${port}`])),
  );
  return {
    hosts: new Set([...loopback, ...remote]),
    // Over loopback we speak http only; before another host stands a proxy that may speak https.
    originsOf: (host) => (loopback.has(host) ? [`http://${host}`] : [`http://${host}`, `https://${host}`]),
  };
}

/** True for the addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** `host:port` for an address line, with the brackets that IPv6 needs. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}
