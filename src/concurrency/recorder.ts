/** How often the timer writes. */
const flushIntervalMs = 5_000;

/** How much is recorded in one statement. */
const maxPerStatement = 1_000;

/** How much the timer writes each time: much may be due at once, and requests need the database too. */
const maxPerInterval = 5_000;

/** How much waits at most while the database takes no writes: some 100 MB. What comes then is not recorded. */
const maxNoted = 1_000_000;

/** Records when things last happened: in memory immediately, in the database every few seconds, never while a request waits. */
export interface Recorder {
  /** Records that it happened now to what has this id. */
  note(id: number): void;
  /** Writes what was noted before, or joins the flush in progress; what cannot be written is kept for the next. Never rejects. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  stop(): Promise<void>;
}

/**
 * Creates a recorder and starts its timer, which writes 5,000 at most every 5 seconds.
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
  let flushing: Promise<void> | undefined;

  async function writeNoted(most: number): Promise<void> {
    let left = Math.min(noted.size, most); // what is noted meanwhile waits for the next flush
    let batch: [id: number, atMs: number][] = [];
    try {
      for (const entry of noted) {
        batch.push(entry);
        left -= 1;
        if (batch.length < maxPerStatement && left > 0) continue;
        await writeBatch(batch);
        if (left === 0) break;
        batch = [];
      }
    } catch (error) {
      onWritten(error);
    }
  }

  async function writeBatch(batch: readonly [id: number, atMs: number][]): Promise<void> {
    const nowMs = performance.now();
    await write(new Map(batch.map(([id, atMs]) => [id, (nowMs - atMs) / 1_000])));
    for (const [id, atMs] of batch) if (noted.get(id) === atMs) noted.delete(id); // otherwise it has happened again
    onWritten();
  }

  function flush(most = maxNoted): Promise<void> {
    flushing ??= writeNoted(most).finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  const timer = setInterval(() => void flush(maxPerInterval), flushIntervalMs).unref();
  return {
    note(id) {
      if (noted.size < maxNoted || noted.has(id)) noted.set(id, performance.now());
    },
    flush: () => flush(),
    async stop() {
      clearInterval(timer);
      await flushing; // what was noted since it began is not in it
      await flush();
    },
  };
}
