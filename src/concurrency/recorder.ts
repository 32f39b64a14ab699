/** How often what was noted is written. */
const intervalMs = 5_000;

/** How much is written in one statement; by the timer in one for each interval, because requests need the database too. */
const maxPerStatement = 5_000;

/** How much waits at most while the database takes no writes: some 100 MB. What comes then is not recorded. */
const maxNoted = 1_000_000;

/** Records when things last happened: in memory at once, in the database every few seconds, never while a request waits. */
export interface Recorder {
  /** Records that it happened now to what has this id. */
  note(id: number): void;
  /** Writes what was noted before; what cannot be written is kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  stop(): Promise<void>;
}

/**
 * Creates a recorder and starts its timer.
 *
 * @param write takes how many seconds ago it last happened, by id.
 * @param onWritten receives the outcome of each statement: the error, or nothing.
 */
export function startRecorder(
  write: (secondsAgo: ReadonlyMap<number, number>) => Promise<void>,
  onWritten: (error?: unknown) => void = () => {},
): Recorder {
  /** By the process's monotonic clock, in milliseconds: another clock than the database's would store times that never come. */
  const noted = new Map<number, number>();
  let last = Promise.resolve();

  /** @returns whether it was written. */
  async function writeBatch(batch: readonly (readonly [id: number, atMs: number])[]): Promise<boolean> {
    const nowMs = performance.now();
    try {
      await write(new Map(batch.map(([id, atMs]) => [id, (nowMs - atMs) / 1_000])));
    } catch (error) {
      onWritten(error);
      return false;
    }
    for (const [id, atMs] of batch) if (noted.get(id) === atMs) noted.delete(id); // otherwise it has happened again
    onWritten();
    return true;
  }

  /** Writes after what is being written. @param most how many statements. */
  function writeNoted(most: number): Promise<void> {
    last = last.then(async () => {
      const entries = [...noted]; // what is noted meanwhile waits for the next time
      const end = Math.min(entries.length, most * maxPerStatement);
      for (let at = 0; at < end; at += maxPerStatement)
        if (!(await writeBatch(entries.slice(at, Math.min(end, at + maxPerStatement))))) return;
    });
    return last;
  }

  const timer = setInterval(() => void writeNoted(1), intervalMs).unref();
  return {
    note(id) {
      if (noted.size < maxNoted || noted.has(id)) noted.set(id, performance.now());
    },
    flush: () => writeNoted(Number.POSITIVE_INFINITY),
    stop() {
      clearInterval(timer);
      return writeNoted(Number.POSITIVE_INFINITY);
    },
  };
}
