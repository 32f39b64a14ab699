import { connect, type Socket, type SocketConstructorOpts } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a connection to a gateway for what no HTTP client sends; closed when the test has finished. Its errors are ignored. */
export function connectTo({ url }: { readonly url: string }, options: SocketConstructorOpts = {}): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...options });
  onTestFinished(() => void socket.destroy());
  return socket.on('error', () => {});
}

/** Sends bytes as they are on a connection of their own. @returns all that comes back until the gateway closes it. */
export async function sendText(gateway: { readonly url: string }, text: string): Promise<string> {
  const socket = connectTo(gateway);
  socket.setEncoding('utf8').write(text);
  return (await socket.toArray()).join('');
}
