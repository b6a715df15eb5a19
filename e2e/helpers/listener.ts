import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Listener = { readonly url: string; readonly hits: readonly string[]; close(): Promise<void> };

/** A server on loopback that notes every request, also a bare connection. */
export async function listen(): Promise<Listener> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    response.end('<title>from outside</title>');
  });
  server.on('connection', () => hits.push('connection'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hits,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
