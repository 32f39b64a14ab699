import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** How much is read at once: the memory that a copy takes. */
const chunkBytes = 256 * 1_024;

/** What was copied. */
export interface Copied {
  readonly bytes: number;
  /** Of what was written, in hexadecimal. */
  readonly sha256: string;
}

/** How to copy a file. */
export interface CopyOptions {
  readonly signal: AbortSignal;
  /** Receives the number of bytes of each part that was copied. */
  readonly onCopied?: (bytes: number) => void;
}

/**
 * Copies a file as long as it was when it was opened: what another process appends in the meantime is left out. The copy can be
 * read only by its owner, and is on disk when this returns.
 *
 * @throws the reason of the signal; file system errors, also when the target exists.
 */
export async function copyFile(source: string, target: string, { signal, onCopied }: CopyOptions): Promise<Copied> {
  const input = await open(source);
  try {
    const { size } = await input.stat();
    const hash = createHash('sha256');
    let bytes = 0;
    async function* read(): AsyncGenerator<Buffer> {
      if (size === 0) return;
      for await (const chunk of input.createReadStream({ end: size - 1, highWaterMark: chunkBytes, autoClose: false })) {
        signal.throwIfAborted();
        hash.update(chunk);
        bytes += chunk.length;
        onCopied?.(chunk.length);
        yield chunk;
      }
    }
    await pipeline(read, createWriteStream(target, durable));
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await input.close();
  }
}

/** A new file that only its owner can read, and that is on disk once it is written. */
const durable = { flags: 'wx', mode: 0o600, flush: true } as const;

/**
 * Creates a file that only its owner can read. It is on disk when this returns.
 *
 * @throws file system errors, also when it exists.
 */
export async function writeDurably(target: string, content: string | Buffer): Promise<Copied> {
  const { flags: flag, ...options } = durable;
  await writeFile(target, content, { flag, ...options });
  return { bytes: Buffer.byteLength(content), sha256: createHash('sha256').update(content).digest('hex') };
}

/** Runs `work` for every item, a few at a time; after a failure no further one is begun. @throws the first failure. */
export async function forEachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const pending = items.values();
  let failed = false;
  const next = async () => {
    for (const item of pending) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled([next(), next(), next(), next()]);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}
