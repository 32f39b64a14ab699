import { readFile, stat } from 'node:fs/promises';

/** About a thousand times the size of large configuration files. */
const maxFileMiB = 16;
const maxFileBytes = maxFileMiB * 2 ** 20;

/** Reads a file. @throws Error when it exceeds 16 MiB, or is not a regular file: a pipe or a device may never end. */
export async function readConfigFile(path: string): Promise<Uint8Array> {
  const found = await stat(path);
  if (found.isDirectory()) throw new Error('This is a folder; pass a file.');
  if (!found.isFile()) throw new Error('This is not a regular file. Pass other sources on standard input, with - as the file.');
  if (found.size > maxFileBytes) throw new Error(`The file exceeds the limit of ${maxFileMiB} MiB.`);
  return readFile(path);
}

/** The text of a file, with its byte order mark, for the validator to report. @throws TypeError when it is not UTF-8. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Reads a stream. @throws Error when it exceeds 16 MiB; the rest is not read. */
export async function readAll(stream: NodeJS.ReadableStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const read = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    bytes += read.length;
    if (bytes > maxFileBytes) throw new Error(`Standard input exceeds the limit of ${maxFileMiB} MiB.`);
    chunks.push(read);
  }
  return Buffer.concat(chunks);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'No such file.',
  EACCES: 'Permission denied: the file cannot be read or written.',
  EPERM: 'Permission denied: the file cannot be read or written.',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'The file is not UTF-8; save it as UTF-8.',
};

/** What is said of a file that cannot be read or written. */
export function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return Object.hasOwn(reasons, code) ? (reasons[code] as string) : message;
}
