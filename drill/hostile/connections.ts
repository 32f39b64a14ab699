import { connect, type Socket } from 'node:net';
import { parseJson } from '../../test/support/send-unchecked.ts';
import { type Reply, readReply, withoutReply } from './request.ts';

/** What to do on one connection. */
export interface RawOptions {
  /** Sent once the connection is established. */
  readonly bytes: string | Buffer;
  /** Sent repeatedly from then on, until the connection ends. */
  readonly trickle?: { readonly everyMs: number; readonly chunk: string };
  /**
   * Whether responses are read: `late` means only before the drill closes the connection, to see whether the gateway already has.
   */
  readonly reads?: 'at once' | 'never' | 'late';
  /** When the drill closes the connection if the gateway has not, in milliseconds. */
  readonly holdMs?: number;
}

/** Connections that send what no HTTP client sends. */
export interface Connections {
  /**
   * Opens this many. Each resolves with the first response, or with how the connection ended if there was none. One that is read
   * late counts as without a response; if the gateway has closed it, the beginning of what it sent is the text.
   */
  openMany(count: number, options: (index: number) => RawOptions): Promise<Reply[]>;
  /** Closes the remaining ones. */
  closeAll(): void;
}

/** How long a connection is kept by default. */
const defaultHoldMs = 35_000;

/** How many connections are opened concurrently: more would overflow the backlog of the listener. */
const openedAtOnce = 100;

/** How much of a response is kept. */
const keptCharacters = 1_048_576;

/** How long to wait for the end of a connection that is read late. */
const lateReadMs = 1_000;

/** Opens connections to a port. */
export function createConnections(port: number): Connections {
  const release = new Set<() => void>();
  return {
    async openMany(count, options) {
      const replies: Promise<Reply>[] = [];
      for (let from = 0; from < count; from += openedAtOnce) {
        const batch = Array.from({ length: Math.min(openedAtOnce, count - from) }, (_, i) => from + i);
        const opened = batch.map(
          (index) => new Promise<void>((resolve) => void replies.push(openOne(port, release, options(index), resolve))),
        );
        await Promise.all(opened);
      }
      return Promise.all(replies);
    },
    closeAll() {
      for (const end of release) end();
    },
  };
}

function openOne(port: number, release: Set<() => void>, options: RawOptions, opened: () => void): Promise<Reply> {
  const { bytes, trickle, reads = 'at once', holdMs = defaultHoldMs } = options;
  const began = performance.now();
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    let text = '';
    let held = false;
    const end = () => {
      held = true;
      socket.destroy();
    };
    const read = () =>
      socket.on('data', (chunk) => {
        if (text.length < keptCharacters) text += chunk.toString('latin1');
        if (reads === 'at once' && isWhole(text)) socket.destroy();
      });
    release.add(end);
    const hold = setTimeout(() => {
      if (reads !== 'late') return end();
      read();
      setTimeout(end, lateReadMs);
    }, holdMs);
    socket.once('connect', () => {
      opened();
      socket.write(bytes);
      if (trickle) sendAgainAndAgain(socket, trickle);
    });
    if (reads === 'at once') read();
    // A connection that is reset is a connection that is closed.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(hold);
      release.delete(end);
      opened();
      const milliseconds = performance.now() - began;
      const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
      const [, status] = (reads === 'at once' && /^HTTP\/1\.1 (\d{3})/.exec(head)) || [];
      if (status) {
        const [, retryAfter = ''] = /\r\nretry-after: *(\d+)/i.exec(head) ?? [];
        const received = Buffer.from(body, 'latin1').toString('utf8');
        const headers = new Headers({ 'retry-after': retryAfter });
        resolve(readReply({ status: Number(status), headers, text: received, json: parseJson(received) }, milliseconds));
      } else {
        const closed = reads === 'late' && !held ? text.slice(0, 200) : `closed by the ${held ? 'drill' : 'gateway'}`;
        resolve({ ...withoutReply, outcome: held ? 'held' : 'closed', text: closed, milliseconds });
      }
    });
  });
}

function sendAgainAndAgain(socket: Socket, { everyMs, chunk }: NonNullable<RawOptions['trickle']>): void {
  const timer = setInterval(() => {
    if (socket.destroyed || !socket.writable) clearInterval(timer);
    else socket.write(chunk);
  }, everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Whether a text holds a whole response, by its content length. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1];
  return length !== undefined && text.length >= end + 4 + Number(length);
}
