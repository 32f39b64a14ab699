import { connect } from 'node:net';

/** How long a response may take. */
const timeoutMs = 20_000;

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * Sends requests on one keep-alive connection, each after the response to the previous one. Does only what is needed of HTTP,
 * because every microsecond here is taken from what is measured.
 *
 * @param next the next request, or `undefined` to end.
 * @param onResponse throws when the response is wrong.
 */
export function converse(
  port: number,
  next: () => string | undefined,
  onResponse: (status: number, body: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let received: Buffer | undefined;
    let isOver = false;
    const send = () => {
      const request = next();
      isOver = request === undefined;
      if (request === undefined) socket.destroy();
      else socket.write(request, 'latin1');
    };
    socket.on('data', (chunk) => {
      received = received ? Buffer.concat([received, chunk]) : chunk;
      try {
        const response = parseResponse(received);
        if (!response) return;
        received = undefined;
        onResponse(response.status, response.body);
        send();
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no response within ${timeoutMs / 1_000} s`)));
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => (isOver ? resolve() : reject(new Error('the connection was closed'))));
  });
}

/** A complete response; `undefined` while it is incomplete. */
function parseResponse(received: Buffer): { status: number; body: Buffer } | undefined {
  const headLength = received.indexOf(endOfHead);
  if (headLength < 0) return undefined;
  const head = received.toString('latin1', 0, headLength);
  const status = Number(head.slice(9, 12));
  const from = headLength + endOfHead.length;
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length === undefined) throw new Error(`a response without a length:\n${head}`);
  const to = from + Number(length);
  return received.length < to ? undefined : { status, body: received.subarray(from, to) };
}
