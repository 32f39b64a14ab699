import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The content of a file, which is created if it does not exist, and which only its owner can read. Of several processes that
 * create it at once, all get the content of one.
 */
export function readOrCreate(file: string, create: () => string): string {
  try {
    // Unlike a rename, a link never replaces what another process put there.
    if (!existsSync(file)) writeDraft(file, create(), (draft) => linkSync(draft, file));
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
  return readFileSync(file, 'utf8');
}

/** Replaces a file, which only its owner can read: it has the old content or the new one, also after a crash of the machine. */
export function replaceFile(file: string, content: string): void {
  writeDraft(file, content, (draft) => renameSync(draft, file));
}

/** Writes a file next to `file`, and has it put into place. On disk when this returns. */
function writeDraft(file: string, content: string, place: (draft: string) => void): void {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    place(draft);
    syncFolder(dirname(file));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Makes the names in a folder survive a crash of the machine. Windows cannot open folders. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
