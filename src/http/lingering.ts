import type { IncomingMessage } from 'node:http';
import { httpTimeouts, maxLingerBytes, maxLingerChunks, maxLingeringConnections } from './limits.ts';

/**
 * Closes connections whose request was rejected before it was read to its end. A connection that is closed with unread data is reset, and a
 * distant client may lose the response by it. So the rest of the request is read for a moment and discarded.
 */
export class Lingering {
  private count = 0;

  /** Call it before the response ends. With many such connections at once, it does nothing: Node closes them at once. */
  start(incoming: IncomingMessage): void {
    if (this.count >= maxLingeringConnections) return;
    this.count += 1;
    const { socket } = incoming;
    // Node calls it when the response is sent: now it only says that no more will come.
    socket.destroySoon = () => void socket.end();
    let bytes = 0;
    let chunks = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks += 1;
      if (bytes > maxLingerBytes || chunks > maxLingerChunks) socket.destroy();
    });
    incoming.on('end', () => void socket.destroySoon());
    incoming.read(0); // or Node, when the response is sent, removes the listener of a request that nothing was read of
    incoming.resume();
    const timer = setTimeout(() => void socket.destroy(), httpTimeouts.lingerMs).unref();
    socket.once('close', () => {
      this.count -= 1;
      clearTimeout(timer);
    });
  }
}
