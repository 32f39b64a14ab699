import type { IncomingMessage } from 'node:http';
import { receivedParts, refusalOf } from './body-parts.ts';
import {
  httpTimeouts,
  maxHeldConnections,
  maxLingerBytes,
  maxLingerBytesPerSecond,
  maxLingerChunks,
  maxLingeringConnections,
} from './limits.ts';

/**
 * Closes connections whose request was rejected before it was read to its end. A connection that is closed with unread data is
 * reset, and a client that is still sending may lose the response by it. So the rest of the request is read for a moment and
 * discarded, as long as few clients need that: reading from many costs more than their requests. What is more than that is not
 * read, but the connection is held open for the same moment, so that the client can read the response.
 */
export class Lingering {
  private connections = 0;
  private held = 0;
  private bytesThisSecond = 0;
  private secondStartedMs = 0;

  /** Call it before the response ends. */
  start(incoming: IncomingMessage): void {
    const { socket } = incoming;
    const timer = setTimeout(() => void socket.destroy(), httpTimeouts.lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
    // Node calls it when the response is sent: now it only says that no more will come.
    socket.destroySoon = () => void socket.end();
    if (this.mayRead() && refusalOf(incoming) === undefined) this.discard(incoming);
    else this.hold(incoming);
  }

  private discard(incoming: IncomingMessage): void {
    const { socket } = incoming;
    let bytes = 0;
    const firstParts = receivedParts(incoming);
    let chunks = 0;
    let isReading = true;
    this.connections += 1;
    const stop = () => {
      if (isReading) this.connections -= 1;
      isReading = false;
    };
    incoming.on('data', (chunk: Buffer) => {
      if (!isReading) return;
      this.bytesThisSecond += chunk.length;
      bytes += chunk.length;
      chunks += 1;
      const parts = Math.max(chunks, receivedParts(incoming) - firstParts);
      // No data follows once chunks are refused, so this is the last time to stop.
      if (bytes <= maxLingerBytes && parts <= maxLingerChunks && refusalOf(incoming) === undefined) return;
      stop();
      this.hold(incoming);
    });
    incoming.on('end', () => void socket.destroySoon());
    incoming.read(0); // or Node, when the response is sent, removes the listener of a request that nothing was read of
    socket.once('close', stop);
  }

  /** Reads nothing further: what the client sends fills the buffers of the system, and then it waits. */
  private hold(incoming: IncomingMessage): void {
    const { socket } = incoming;
    incoming._read = () => {}; // Node reads on when the response is sent
    socket.pause();
    if (this.held >= maxHeldConnections) {
      if (socket.writableEnded) socket.destroy();
      else socket.destroySoon = () => void socket.destroy(); // called when the response was passed to the system
      return;
    }
    this.held += 1;
    socket.once('close', () => {
      this.held -= 1;
    });
  }

  private mayRead(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.secondStartedMs >= 1_000) {
      this.secondStartedMs = nowMs;
      this.bytesThisSecond = 0;
    }
    return this.connections < maxLingeringConnections && this.bytesThisSecond < maxLingerBytesPerSecond;
  }
}
