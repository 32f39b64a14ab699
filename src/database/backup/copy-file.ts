import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FindDamaged } from './page-checksums.ts';

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
  readonly findDamaged?: FindDamaged | undefined;
}

/**
 * Copies a file as long as it was when it was opened: what another process appends in the meantime is left out. The copy can be
 * read only by its owner, and is on disk when this returns.
 *
 * @throws the reason of the signal; file system errors, also when the target exists; Error when a page is damaged.
 */
export async function copyFile(source: string, target: string, { signal, onCopied, findDamaged }: CopyOptions): Promise<Copied> {
  const input = await open(source);
  try {
    const { size } = await input.stat();
    const hash = createHash('sha256');
    let bytes = 0;
    async function* read(): AsyncGenerator<Buffer> {
      while (bytes < size) {
        signal.throwIfAborted();
        const chunk = await readIntact(source, input, { offset: bytes, length: Math.min(chunkBytes, size - bytes), findDamaged });
        if (chunk.length === 0) return;
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

interface Part {
  readonly offset: number;
  readonly length: number;
  readonly findDamaged: FindDamaged | undefined;
}

/** How often a part is read in which a page seems damaged, and the pause between: a page may be read while it is written. */
const maxReads = 20;
const rereadMs = 100;

async function readIntact(path: string, file: FileHandle, { offset, length, findDamaged }: Part): Promise<Buffer> {
  for (let reads = 1; ; reads += 1) {
    const part = await readPart(file, offset, length);
    const damaged = findDamaged?.(part, offset);
    if (damaged === undefined) return part;
    if (reads === maxReads) {
      throw new Error(
        `Page ${damaged} of ${path} is damaged: its checksum is wrong. No backup was made. Keep the earlier backups, check the ` +
          'disk, and restore the latest one.',
      );
    }
    await sleep(rereadMs);
  }
}

/** Reads a part of a file, which is shorter only at its end. */
async function readPart(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const part = Buffer.allocUnsafeSlow(length); // memory of its own, which can be read as words
  for (let filled = 0; ; ) {
    const { bytesRead } = await file.read(part, filled, length - filled, offset + filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === length) return part.subarray(0, filled);
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
