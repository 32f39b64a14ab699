import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a connection to a gateway for what no HTTP client sends; closed when the test has finished. Its errors are ignored. */
export function connectTo({ url }: { readonly url: string }): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return socket.on('error', () => {});
}
