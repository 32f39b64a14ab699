import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { httpLimits } from './limits.ts';

const { maxBodyParts } = httpLimits;

/** Chunks of this size are passed on as they are: copying them would cost more than it saves. */
const largePartBytes = 1_024;

/** How many chunks are joined at most. */
const maxJoinedParts = 256;

const partsOf = Symbol('parts');
type Incoming = IncomingMessage & { [partsOf]?: Parts };

/** Where Node's parser has the function that receives each chunk. It makes no buffer of a chunk if there is none. */
const onBody = 3;
type ParsedSocket = Socket & { readonly parser?: { [onBody]: unknown } | null };

/**
 * Joins the chunks of a request's body that are received together. Node.js makes each a buffer of its own, and queues any number
 * of them if their bytes are few: 64 KiB of chunks of one byte would take 4 MB while the request waits, and be passed on one by
 * one. Chunks after the first {@link httpLimits.maxBodyParts}, and one more, are parsed
 * without being passed on.
 *
 * Call it when the headers were received, before any of the body.
 */
export function joinParts(incoming: IncomingMessage): void {
  if (incoming.headers['transfer-encoding'] !== undefined) (incoming as Incoming)[partsOf] = new Parts(incoming);
}

/** How many chunks of the body were received; 0 for a body of declared length. */
export const receivedParts = (incoming: IncomingMessage): number => (incoming as Incoming)[partsOf]?.count ?? 0;

class Parts {
  count = 0;
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
    if (this.count === maxBodyParts + 1) this.ignoreParts();
    if (part.length >= largePartBytes) {
      this.flush();
      return this.passOn(part);
    }
    this.pending.push(part);
    if (this.pending.length >= maxJoinedParts || this.count > maxBodyParts) return this.flush();
    if (!this.isScheduled) {
      this.isScheduled = true;
      setImmediate(this.flushLater); // a tick would end after each chunk, before the next one is parsed
    }
    return true;
  };

  /** Until the end of the body, or of the connection: Node uses a parser for one connection after another. */
  private ignoreParts(): void {
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
