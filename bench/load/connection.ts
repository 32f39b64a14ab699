import { connect } from 'node:net';

/** What a connection is for: what it sends next, and who takes the answers. */
export interface Conversation {
  /** The next request, or nothing to end. The buffer may be used again once the answer is there. */
  next(): Buffer | undefined;
  /** Takes an answer; its bytes are valid only until this returns. @throws Error when it is wrong. */
  answered(status: number, body: Buffer): void;
}

const endOfHead = Buffer.from('\r\n\r\n');

/** The most bytes that an answer may have. */
const maxAnswerBytes = 65_536;

/** How long an answer may take. */
const timeoutMs = 20_000;

/**
 * Sends requests on one keep-alive connection, each after the answer to the one before. Knows as little HTTP as that takes,
 * and reads into one buffer without a stream around it, because every microsecond here is taken from what is measured.
 */
export function converse(port: number, conversation: Conversation): Promise<void> {
  return new Promise((resolve, reject) => {
    const answerBytes = Buffer.alloc(maxAnswerBytes);
    let received = 0;
    let ended = false;

    /** Takes over what has arrived, and answers whether more is wanted. */
    function read(bytes: number, chunk: Uint8Array): boolean {
      if (received + bytes > maxAnswerBytes) return fail(new Error(`a response of more than ${maxAnswerBytes} bytes`));
      answerBytes.set(chunk.subarray(0, bytes), received);
      received += bytes;
      try {
        const answer = parseAnswer(answerBytes.subarray(0, received));
        if (!answer) return true;
        received = 0;
        conversation.answered(answer.status, answer.body);
      } catch (error) {
        return fail(error as Error);
      }
      send();
      return true;
    }

    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: { buffer: Buffer.alloc(maxAnswerBytes), callback: read },
    });

    function fail(error: Error): false {
      if (!ended) socket.destroy();
      ended = true;
      reject(error);
      return false;
    }

    function send(): void {
      const request = conversation.next();
      if (request) return void socket.write(request);
      ended = true;
      socket.destroy();
      resolve();
    }

    socket.setTimeout(timeoutMs, () => fail(new Error(`no response within ${timeoutMs / 1000} s`)));
    socket.once('error', fail);
    socket.once('close', () => fail(new Error('the connection was closed')));
    socket.once('connect', send);
  });
}

/** The header that tells a body's length, up to its value, as the systems that are measured write it. */
const lengthHeaders = ['\r\nContent-Length: ', '\r\ncontent-length: '].map((text) => Buffer.from(text));

/** An answer that is there as a whole; nothing while some of it is missing. */
function parseAnswer(received: Buffer): { status: number; body: Buffer } | undefined {
  const headLength = received.indexOf(endOfHead);
  if (headLength < 0) return undefined;
  const status = numberAt(received, 'HTTP/1.1 '.length);
  const from = headLength + endOfHead.length;
  const length = contentLength(received, headLength);
  if (length === undefined) return parseChunks(received, from, status, received.toString('latin1', 0, headLength));
  const to = from + length;
  if (received.length > to) throw new Error('received more bytes than the response has');
  return received.length < to ? undefined : { status, body: received.subarray(from, to) };
}

function contentLength(received: Buffer, headLength: number): number | undefined {
  for (const header of lengthHeaders) {
    const at = received.indexOf(header);
    if (at >= 0 && at < headLength) return numberAt(received, at + header.length);
  }
  return undefined;
}

/** The decimal number that begins at a position. */
function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let i = at; ; i += 1) {
    const digit = (bytes[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
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
