import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Passes on the requests of each connection one after another: the next one when the client has taken the response to the one before. Until
 * then no more is read from the connection than one chunk, so a client that sends without reading cannot make the gateway work.
 *
 * @param maxWaiting how many requests may wait on a connection; one that has more is closed.
 */
export function serializeRequests(handle: Handler, maxWaiting: number): Handler {
  const connections = new WeakMap<Socket, Connection>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    let connection = connections.get(socket);
    if (!connection) {
      connection = new Connection(socket, handle, maxWaiting);
      connections.set(socket, connection);
    }
    connection.add(incoming, outgoing);
  };
}

class Connection {
  private readonly socket: Socket;
  private readonly handle: Handler;
  private readonly maxWaiting: number;
  private readonly waiting: [IncomingMessage, ServerResponse][] = [];
  private isBusy = false;

  constructor(socket: Socket, handle: Handler, maxWaiting: number) {
    this.socket = socket;
    this.handle = handle;
    this.maxWaiting = maxWaiting;
  }

  add(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (!this.isBusy) {
      this.start(incoming, outgoing);
      return;
    }
    this.waiting.push([incoming, outgoing]);
    this.socket.pause();
    if (this.waiting.length > this.maxWaiting) this.socket.destroy();
  }

  private start(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.isBusy = true;
    outgoing.on('close', this.next);
    this.handle(incoming, outgoing);
  }

  /** The response was sent, or the connection is gone. */
  private readonly next = (): void => {
    if (this.socket.destroyed) {
      this.waiting.length = 0;
      return;
    }
    const following = this.waiting.shift();
    this.isBusy = false;
    // Of those that wait, only the last may have a body that is still to come.
    if (this.waiting.length === 0 && this.socket.isPaused()) this.socket.resume();
    if (following) this.start(...following);
  };
}
