import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { httpLimits, partsIntervalMs } from './limits.ts';

const { maxBodyParts, maxRecentParts } = httpLimits;

/** Chunks of this size are passed on as they are: copying them would cost more than it saves. */
const largePartBytes = 1_024;

/** How many chunks are joined at most. */
const maxJoinedParts = 256;

/** Bodies of this many chunks, and thus those of nearly all clients, are received however many chunks others send. */
const freeParts = 64;

/** How many chunks were received in this interval, from all connections. Intervals without any are not counted. */
let recentParts = 0;

function countPart(): void {
  recentParts += 1;
  if (recentParts === 1) setTimeout(endInterval, partsIntervalMs).unref();
}

function endInterval(): void {
  recentParts = 0;
}

/** Why chunks of a body are not received: it has too many, or all connections together sent too many. */
export type PartsRefusal = 'too many' | 'busy';

const partsOf = Symbol('parts');
type Incoming = IncomingMessage & { [partsOf]?: Parts };

/** Where Node's parser has the function that receives each chunk. It makes no buffer of a chunk if there is none. */
const onBody = 3;
type ParsedSocket = Socket & { readonly parser?: { [onBody]: unknown } | null };

/**
 * Joins the chunks of a request's body that are received together. Node.js makes each a buffer of its own, and queues any number
 * of them if their bytes are few: 64 KiB of chunks of one byte would take 4 MB while the request waits, and be passed on one by
 * one. From the first chunk that is refused on, as {@link refusalOf} says, they are parsed without being passed on.
 *
 * Call it when the headers were received, before any of the body.
 */
export function joinParts(incoming: IncomingMessage): void {
  if (incoming.headers['transfer-encoding'] !== undefined) (incoming as Incoming)[partsOf] = new Parts(incoming);
}

/** How many chunks of the body were received; 0 for a body of declared length. */
export const receivedParts = (incoming: IncomingMessage): number => (incoming as Incoming)[partsOf]?.count ?? 0;

/** Why the body is incomplete; undefined if it is not. Known when the last part that is passed on is. */
export const refusalOf = (incoming: IncomingMessage): PartsRefusal | undefined => (incoming as Incoming)[partsOf]?.refusal;

class Parts {
  count = 0;
  refusal: PartsRefusal | undefined;
  private readonly incoming: IncomingMessage;
  private pending: Buffer[] = [];
  private isScheduled = false;
  private receiveParts = (): void => {};

  constructor(incoming: IncomingMessage) {
    this.incoming = incoming;
    incoming.push = this.push; // Node calls it for each chunk, and at the end
  }

  private readonly push = (part: Buffer | null): boolean => {
    if (part === null) {
      this.receiveParts();
      this.flush();
      return this.passOn(null);
    }
    this.count += 1;
    countPart();
    if (this.count > maxBodyParts) this.refuse('too many');
    else if (this.count > freeParts && recentParts > maxRecentParts) this.refuse('busy');
    if (part.length >= largePartBytes) {
      this.flush();
      return this.passOn(part);
    }
    this.pending.push(part);
    if (this.pending.length >= maxJoinedParts || this.refusal) return this.flush();
    if (!this.isScheduled) {
      this.isScheduled = true;
      setImmediate(this.flushLater); // a tick would end after each chunk, before the next one is parsed
    }
    return true;
  };

  /** Ignores chunks until the end of the body, or of the connection: Node uses a parser for one connection after another. */
  private refuse(refusal: PartsRefusal): void {
    this.refusal = refusal;
    const { socket } = this.incoming;
    const { parser } = socket as ParsedSocket;
    if (!parser) return;
    const receive = parser[onBody];
    parser[onBody] = undefined;
    this.receiveParts = () => {
      parser[onBody] = receive;
    };
    socket.once('close', () => this.receiveParts());
  }

  private readonly flushLater = (): void => {
    this.isScheduled = false;
    if (!this.incoming.destroyed && !this.flush()) this.incoming.socket.pause(); // as Node does
  };

  private flush(): boolean {
    const { pending } = this;
    if (pending.length === 0) return true;
    this.pending = [];
    return this.passOn(pending.length === 1 ? pending[0] : Buffer.concat(pending));
  }

  private passOn(chunk: Buffer | null | undefined): boolean {
    return Object.getPrototypeOf(this.incoming).push.call(this.incoming, chunk);
  }
}
