import { connect, type Socket, type SocketConstructorOpts } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a connection to a gateway for what no HTTP client sends; closed when the test has finished. Its errors are ignored. */
export function connectTo({ url }: { readonly url: string }, options: SocketConstructorOpts = {}): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...options });
  onTestFinished(() => void socket.destroy());
  return socket.on('error', () => {});
}
