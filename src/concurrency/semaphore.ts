import { GatewayError, nothingChanged } from '../errors.ts';

/**
 * Bounds the work in progress, fair between keys: what waits stands in a line for each key, and the lines take turns. A busy key
 * delays each of the others by one piece of work at a time.
 */
export class Semaphore<Key> {
  private readonly lines = new Map<Key, (() => void)[]>();
  private readonly maxWaiting: number;
  private free: number;

  /** @param permits how much runs at once. @param maxWaiting how much waits of each key. */
  constructor(permits: number, maxWaiting: number) {
    this.free = permits;
    this.maxWaiting = maxWaiting;
  }

  /** Runs `work` when it is the key's turn. @throws GatewayError `UNAVAILABLE` when too much of the key waits; what `work` throws. */
  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free -= 1;
    else await this.wait(key);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private wait(key: Key): Promise<void> {
    const line = this.lines.get(key) ?? [];
    if (line.length >= this.maxWaiting) throw overloaded();
    this.lines.set(key, line);
    return new Promise((resolve) => line.push(resolve));
  }

  /** Gives the permit to the next line, which then stands behind the others. */
  private leave(): void {
    const [next] = this.lines;
    if (!next) {
      this.free += 1;
      return;
    }
    const [key, line] = next;
    this.lines.delete(key);
    line.shift()?.();
    if (line.length > 0) this.lines.set(key, line);
  }
}

const overloaded = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    `Too many reads of lists wait for their turn. ${nothingChanged}Try again after the number of seconds in the Retry-After header.`,
  );
