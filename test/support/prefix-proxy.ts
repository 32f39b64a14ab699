import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy that serves a gateway below a path, which it removes from requests. */
export interface PrefixProxy {
  /** The base URL of the gateway behind it, without a slash at its end. */
  readonly url: string;
  close(): void;
}

/**
 * Starts a proxy on a free port. What is outside the prefix gets the status 418.
 *
 * @param prefix the path, such as `/groups`.
 * @param target the URL of the gateway, asked for with each request.
 */
export async function startPrefixProxy(prefix: string, target: () => string): Promise<PrefixProxy> {
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) {
      outgoing.writeHead(418).end('outside the prefix');
      return;
    }
    const onward = request(target() + url.slice(prefix.length), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`,
    close() {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
