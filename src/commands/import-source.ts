import { type BigIntStats, close, createReadStream, fstatSync, open } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { UsageError } from './options.ts';
import { isClosed } from './output.ts';
import { processIo } from './process-io.ts';

/** What is read. */
export interface Source {
  readonly chunks: Readable;
  /** The file, which is open until `chunks` are destroyed, and how it was at the beginning; undefined for what is no file. */
  readonly file?: { readonly fd: number; readonly stats: BigIntStats } | undefined;
}

/**
 * Opens what is to be read.
 *
 * @param file the path, or `-` for standard input.
 * @throws UsageError when it cannot be read.
 */
export async function openSource(file: string, stdin: Readable): Promise<Source> {
  if (file === '-') {
    const problem = stdin === processIo.stdin ? stdinProblem() : undefined;
    if (problem) throw new UsageError(`Cannot read standard input: ${problem}. Nothing was imported.`);
    const stats = stdin === processIo.stdin ? fstatSync(0, { bigint: true }) : undefined;
    return { chunks: stdin, file: stats?.isFile() ? { fd: 0, stats } : undefined };
  }
  try {
    const fd = await promisify(open)(file, 'r');
    const stats = fstatSync(fd, { bigint: true });
    if (stats.isDirectory()) {
      await promisify(close)(fd);
      throw new Error('it is a folder');
    }
    // As a file, a pipe would be read in a thread that cannot be stopped until its writer writes.
    if (stats.isFIFO()) return { chunks: new Socket({ fd, readable: true, writable: false }) };
    const isFile = stats.isFile();
    return { chunks: createReadStream(file, { fd, autoClose: !isFile }), file: isFile ? { fd, stats } : undefined };
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}. Nothing was imported.`);
  }
}

/** What is read. @throws Error at the end of a file that is not as it was at the beginning: its last line may be incomplete. */
export async function* chunksOf({ chunks, file }: Source): AsyncGenerator<Buffer> {
  yield* chunks;
  if (!file) return;
  const { size, mtimeNs } = fstatSync(file.fd, { bigint: true });
  if (size !== file.stats.size || mtimeNs !== file.stats.mtimeNs)
    throw new Error('The file was written while it was read. Import it when it is complete.');
}

/** Why nothing can be read from the standard input of this process, which would look empty. */
function stdinProblem(): string | undefined {
  if (fstatSync(0).isDirectory()) return 'it is a folder';
  return isClosed(0) ? 'it is closed' : undefined;
}
