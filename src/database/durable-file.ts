import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
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

/**
 * Replaces a file: it has the old content or the new one, also after a crash of the machine. Symbolic links, the owner and the
 * mode are preserved.
 */
export function replaceFile(file: string, content: string): void {
  const target = realpathSync(file);
  writeDraft(target, content, (draft) => renameSync(draft, target), statSync(target));
}

/**
 * Creates a file that only its owner can read, or that has the owner, the group and the mode of another one. On disk when this
 * returns.
 *
 * @throws file system errors, also when it exists, or this process may not give a file to that owner; it may then exist.
 */
export function createFile(file: string, content: string, like?: Stats): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    if (like) {
      const { uid, gid } = fstatSync(descriptor);
      // With another owner, the programs that read the other file may be locked out.
      if (uid !== like.uid || gid !== like.gid) fchownSync(descriptor, like.uid, like.gid);
      fchmodSync(descriptor, like.mode); // last, because another owner resets some bits
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a file next to `file`, and has it put into place. On disk when this returns. */
function writeDraft(file: string, content: string, place: (draft: string) => void, like?: Stats): void {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    createFile(draft, content, like);
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
