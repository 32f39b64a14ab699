import { connect } from 'node:net';

/** The requests of a connection, and the handler of their responses. */
export interface Conversation {
  /** The next request, or `undefined` to end. The buffer may be reused once the response has arrived. @throws Error to fail. */
  next(): Buffer | undefined;
  /** Handles a response; its bytes are valid only until this returns. @throws Error when it is wrong. */
  onResponse(status: number, body: Buffer): void;
}

const endOfHead = Buffer.from('\r\n\r\n');

/** The maximum size of a response in bytes. */
const maxResponseBytes = 65_536;

/** How long a response may take. */
const timeoutMs = 20_000;

/**
 * Sends requests on one keep-alive connection, each after the response to the previous one. Implements only the necessary part
 * of HTTP, and reads into one buffer without a stream, because every microsecond here is taken from what is measured.
 */
export function converse(port: number, conversation: Conversation): Promise<void> {
  return new Promise((resolve, reject) => {
    const responseBytes = Buffer.alloc(maxResponseBytes);
    let received = 0;
    let ended = false;

    /** Handles received bytes. @returns whether to continue reading. */
    function read(bytes: number, chunk: Uint8Array): boolean {
      if (received + bytes > maxResponseBytes) return fail(new Error(`a response of more than ${maxResponseBytes} bytes`));
      responseBytes.set(chunk.subarray(0, bytes), received);
      received += bytes;
      try {
        const response = parseResponse(responseBytes.subarray(0, received));
        if (!response) return true;
        received = 0;
        conversation.onResponse(response.status, response.body);
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
      onread: { buffer: Buffer.alloc(maxResponseBytes), callback: read },
    });

    function fail(error: Error): false {
      if (!ended) socket.destroy();
      ended = true;
      reject(error);
      return false;
    }

    function send(): void {
      let request: Buffer | undefined;
      try {
        request = conversation.next();
      } catch (error) {
        return void fail(error as Error);
      }
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

/** The content length header up to its value, as the measured systems write it. */
const lengthHeaders = ['\r\nContent-Length: ', '\r\ncontent-length: '].map((text) => Buffer.from(text));

/** A complete response; `undefined` while it is incomplete. */
function parseResponse(received: Buffer): { status: number; body: Buffer } | undefined {
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

/** The decimal number at a position. */
function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let i = at; ; i += 1) {
    const digit = (bytes[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}

function parseChunks(received: Buffer, from: number, status: number, head: string): { status: number; body: Buffer } | undefined {
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`a response without a length:\n${head}`);
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
