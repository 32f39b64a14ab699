import type { Worker } from 'node:cluster';

/** What Node.js sends to a worker with a connection, and what the worker responds once it has it. */
interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** A connection, as the primary process holds it until a worker has it. */
interface Handle {
  close(): void;
}

/**
 * In the primary process: closes the connections that were sent to a worker that exits before receiving them. Node.js would
 * keep them open without reading from them, and their clients would never get a response.
 */
export function closeLostConnections({ process: child }: Pick<Worker, 'process'>): void {
  const sent = new Map<number, Handle>();
  const send = child.send.bind(child) as (message: ClusterMessage, handle?: Handle, ...rest: unknown[]) => boolean;
  child.send = ((message: ClusterMessage, handle?: Handle, ...rest: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined && handle) sent.set(message.seq, handle);
    return send(message, handle, ...rest);
  }) as typeof child.send;
  child.on('internalMessage', ({ ack }: ClusterMessage) => ack !== undefined && sent.delete(ack));
  child.once('exit', () => {
    for (const handle of sent.values()) handle.close();
    sent.clear();
  });
}
