import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { httpTimeouts, maxLingerBytes, maxLingerBytesPerSecond, maxLingerChunks, maxLingeringConnections } from './limits.ts';

/**
 * Closes connections whose request was rejected before it was read to its end. A connection that is closed with unread data is reset, and a
 * distant client may lose the response by it. So the rest of the request is read for a moment and discarded, as long as few
 * clients need that: reading from many costs more than their requests.
 */
export class Lingering {
  private connections = 0;
  private bytesThisSecond = 0;
  private secondStartedMs = 0;

  /** Call it before the response ends. */
  start(incoming: IncomingMessage): void {
    const { socket } = incoming;
    if (!this.mayStart()) {
      closeAtOnce(socket);
      return;
    }
    this.connections += 1;
    // Node calls it when the response is sent: now it only says that no more will come.
    socket.destroySoon = () => void socket.end();
    let bytes = 0;
    let chunks = 0;
    incoming.on('data', (chunk: Buffer) => {
      this.bytesThisSecond += chunk.length;
      bytes += chunk.length;
      chunks += 1;
      if (bytes > maxLingerBytes || chunks > maxLingerChunks) socket.destroy();
    });
    incoming.on('end', () => void socket.destroySoon());
    incoming.read(0); // or Node, when the response is sent, removes the listener of a request that nothing was read of
    incoming.resume();
    const timer = setTimeout(() => void socket.destroy(), httpTimeouts.lingerMs).unref();
    socket.once('close', () => {
      this.connections -= 1;
      clearTimeout(timer);
    });
  }

  private mayStart(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.secondStartedMs >= 1_000) {
      this.secondStartedMs = nowMs;
      this.bytesThisSecond = 0;
    }
    return this.connections < maxLingeringConnections && this.bytesThisSecond < maxLingerBytesPerSecond;
  }
}

/** Reads nothing further. Node would read on until the connection is shut down, and copy all of it. */
function closeAtOnce(socket: Socket): void {
  socket.pause();
  socket.destroySoon = () => void socket.destroy(); // called when the response was passed to the system
}
