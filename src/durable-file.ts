import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';

/** A file that appears under its name when it is published: whole, also after a crash of the machine. */
export interface Draft {
  write(text: string): void;
  publish(): void;
  /** Closes it; without an effect on what is published. */
  discard(): void;
}

/**
 * Opens a draft of a file that only its owner can read, or that has the owner, the group and the mode of another one.
 *
 * @param place what puts it under its name.
 * @throws file system errors, also when this process may not give a file to that owner.
 */
export function openDraft(file: string, like?: fs.Stats, place: typeof fs.linkSync = fs.renameSync): Draft {
  const draft = `${file}.${randomUUID()}.tmp`;
  const descriptor = fs.openSync(draft, 'wx', 0o600);
  const discard = () => {
    fs.closeSync(descriptor);
    fs.rmSync(draft, { force: true });
  };
  try {
    if (like) {
      const { uid, gid } = fs.fstatSync(descriptor);
      // With another owner, the programs that read the other file may be locked out.
      if (uid !== like.uid || gid !== like.gid) fs.fchownSync(descriptor, like.uid, like.gid);
      fs.fchmodSync(descriptor, like.mode); // last, because another owner resets some bits
    }
  } catch (error) {
    discard();
    throw error;
  }
  return {
    write: (text) => fs.writeFileSync(descriptor, text),
    publish() {
      fs.fsyncSync(descriptor);
      place(draft, file);
      syncFolder(dirname(file));
    },
    discard,
  };
}

/**
 * The content of a file, which is created if it does not exist, and which only its owner can read. Of several processes that
 * create it at once, all get the content of one.
 */
export function readOrCreate(file: string, create: () => string): string {
  try {
    // Unlike a rename, a link never replaces what another process put there.
    if (!fs.existsSync(file)) publish(openDraft(file, undefined, fs.linkSync), create());
  } catch (error) {
    if (!fs.existsSync(file)) throw error;
  }
  return fs.readFileSync(file, 'utf8');
}

/** Replaces a file. Symbolic links, the owner and the mode are preserved. */
export function replaceFile(file: string, content: string): void {
  const target = fs.realpathSync(file);
  publish(openDraft(target, fs.statSync(target)), content);
}

function publish(draft: Draft, content: string): void {
  try {
    draft.write(content);
    draft.publish();
  } finally {
    draft.discard();
  }
}

/** Makes the names in a folder survive a crash of the machine. Windows cannot open folders. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
