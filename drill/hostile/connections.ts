import { connect } from 'node:net';
import { parseJson } from '../../test/support/send-unchecked.ts';
import { type Result, resultOf } from './result.ts';

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
  /** When the drill closes the connection if the gateway has not. */
  readonly holdMs?: number;
}

/** How many connections are opened concurrently: more would overflow the backlog of the listener. */
const openedAtOnce = 100;

/** How much of a response is kept. */
const keptCharacters = 1_048_576;

/** How long to wait for the end of a connection that is read late. */
const lateReadMs = 1_000;

/**
 * Opens connections. Each resolves with the first response, or with how the connection ended if there was none. One that is read
 * late counts as without a response; if the gateway has closed it, the beginning of what it sent is the text.
 */
export async function openMany(port: number, count: number, options: (index: number) => RawOptions): Promise<Result[]> {
  const results: Promise<Result>[] = [];
  for (let from = 0; from < count; from += openedAtOnce) {
    const indexes = Array.from({ length: Math.min(openedAtOnce, count - from) }, (_, index) => from + index);
    await Promise.all(
      indexes.map((index) => new Promise<void>((opened) => void results.push(openOne(port, options(index), opened)))),
    );
  }
  return Promise.all(results);
}

function openOne(port: number, options: RawOptions, opened: () => void): Promise<Result> {
  const { bytes, trickle, reads = 'at once', holdMs = 35_000 } = options;
  const startedAt = performance.now();
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    let text = '';
    let isHeld = false;
    const end = () => {
      isHeld = true;
      socket.destroy();
    };
    const read = () =>
      socket.on('data', (chunk) => {
        if (text.length < keptCharacters) text += chunk.toString('latin1');
        if (reads === 'at once' && isWhole(text)) socket.destroy();
      });
    const hold = setTimeout(() => {
      if (reads !== 'late') return end();
      read();
      setTimeout(end, lateReadMs);
    }, holdMs);
    const timer = trickle && setInterval(() => socket.writable && socket.write(trickle.chunk), trickle.everyMs);
    socket.once('connect', () => {
      opened();
      socket.write(bytes);
    });
    if (reads === 'at once') read();
    // A connection that is reset is a connection that is closed.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(hold);
      clearInterval(timer);
      opened();
      const milliseconds = performance.now() - startedAt;
      const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
      const [, status] = (reads === 'at once' && /^HTTP\/1\.1 (\d{3})/.exec(head)) || [];
      if (status === undefined)
        return resolve({ outcome: isHeld ? 'held' : 'closed', code: '', text: text.slice(0, 200), milliseconds });
      const [, retryAfter = ''] = /\r\nretry-after: *(\d+)/i.exec(head) ?? [];
      const received = Buffer.from(body, 'latin1').toString('utf8');
      const headers = new Headers({ 'retry-after': retryAfter });
      resolve(resultOf({ status: Number(status), headers, text: received, json: parseJson(received), milliseconds }));
    });
  });
}

/** Whether a text holds a whole response, by its content length. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, Math.max(0, end)))?.[1];
  return length !== undefined && text.length >= end + 4 + Number(length);
}
