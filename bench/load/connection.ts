import { connect } from 'node:net';

/** What a connection is for: what it sends next, and who takes the answers. */
export interface Conversation {
  /** The next request, or nothing to end. The buffer may be used again once the answer is there. */
  next(): Buffer | undefined;
  /** Takes an answer. @throws Error when it is wrong. */
  answered(status: number, body: Buffer): void;
}

const endOfHead = Buffer.from('\r\n\r\n');

/** How long an answer may take. */
const timeoutMs = 20_000;

/**
 * Sends requests on one keep-alive connection, each after the answer to the one before. Knows as little HTTP as that takes,
 * because every microsecond here is taken from what is measured.
 */
export function converse(port: number, conversation: Conversation): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let received: Buffer | undefined;
    let ended = false;

    const fail = (error: Error) => {
      if (!ended) socket.destroy();
      ended = true;
      reject(error);
    };
    const send = () => {
      const request = conversation.next();
      if (request) return void socket.write(request);
      ended = true;
      socket.destroy();
      resolve();
    };
    socket.setTimeout(timeoutMs, () => fail(new Error(`no answer within ${timeoutMs / 1000} s`)));
    socket.once('error', fail);
    socket.once('close', () => fail(new Error('the connection was closed')));
    socket.once('connect', send);
    socket.on('data', (chunk: Buffer) => {
      const bytes = received ? Buffer.concat([received, chunk]) : chunk;
      try {
        const answer = parseAnswer(bytes);
        received = answer ? undefined : bytes;
        if (!answer) return;
        conversation.answered(answer.status, answer.body);
      } catch (error) {
        return fail(error as Error);
      }
      send();
    });
  });
}

/** An answer that is there as a whole; nothing while some of it is missing. */
function parseAnswer(received: Buffer): { status: number; body: Buffer } | undefined {
  const headLength = received.indexOf(endOfHead);
  if (headLength < 0) return undefined;
  const head = received.toString('latin1', 0, headLength);
  const status = Number(head.slice(9, 12));
  const from = headLength + endOfHead.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) return parseChunks(received, from, status, head);
  const to = from + Number(length);
  if (received.length > to) throw new Error('more bytes came than the answer has');
  return received.length < to ? undefined : { status, body: received.subarray(from, to) };
}

function parseChunks(received: Buffer, from: number, status: number, head: string): { status: number; body: Buffer } | undefined {
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`an answer without a length:\n${head}`);
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (received.length < end + 2) return undefined;
    if (size === 0) return { status, body: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts) };
    parts.push(received.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
