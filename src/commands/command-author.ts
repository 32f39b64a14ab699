import { userInfo } from 'node:os';
import type { Author } from '../database/queries/event-writes.ts';
import { commandAuthor } from '../domain/event-recording.ts';

/** Who the audit log names for the changes of this command: the user of the operating system who runs it. */
export function ownAuthor(): Author {
  return commandAuthor(userName());
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`; // one without a name, as in many containers
  }
}
