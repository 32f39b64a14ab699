import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

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
  const input = await open(source, constants.O_RDONLY);
  try {
    const { size } = await input.stat();
    const output = await open(target, 'wx', 0o600);
    try {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(size, 1)));
      const hash = createHash('sha256');
      let bytes = 0;
      while (bytes < size) {
        signal.throwIfAborted();
        const { bytesRead } = await input.read(buffer, 0, Math.min(buffer.length, size - bytes), bytes);
        if (bytesRead === 0) break; // it has become shorter
        const chunk = buffer.subarray(0, bytesRead);
        hash.update(chunk);
        await writeAll(output, chunk);
        bytes += bytesRead;
        onCopied?.(bytesRead);
      }
      await output.sync();
      return { bytes, sha256: hash.digest('hex') };
    } finally {
      await output.close();
    }
  } finally {
    await input.close();
  }
}

async function writeAll(output: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await output.write(chunk, written, chunk.length - written)).bytesWritten;
  }
}

/**
 * Creates a file that only its owner can read. It is on disk when this returns.
 *
 * @throws file system errors, also when it exists.
 */
export async function writeDurably(target: string, content: string | Buffer): Promise<Copied> {
  const bytes = Buffer.from(content as string);
  const output = await open(target, 'wx', 0o600);
  try {
    await writeAll(output, bytes);
    await output.sync();
  } finally {
    await output.close();
  }
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Makes the names in a folder survive a crash of the machine. Windows cannot open folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
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
