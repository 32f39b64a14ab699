import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../shell-word.ts';
import { readOrCreate } from '../durable-file.ts';
import type { Binaries } from './binaries.ts';
import type { Layout } from './layout.ts';

/** The name of the file in `DATA_DIR` that holds the superuser's password. */
export const passwordFileName = 'postgres-password';

/** The file that holds the superuser's password. */
export const passwordFile = (layout: Layout): string => join(layout.dataDir, passwordFileName);

/** The file that holds it until there is a database: a `DATA_DIR` with the other one, and none, has lost it. */
const draftFile = (layout: Layout): string => `${passwordFile(layout)}.new`;

/** The superuser's password for a data directory that is about to be created. Processes that create it at once have the same. */
export function draftPassword(layout: Layout): string {
  return readOrCreate(draftFile(layout), () => randomBytes(24).toString('base64url'));
}

/** Gives the drafted password its place once there is a database, also if the process that created it was killed before that. */
export function publishPassword(layout: Layout): void {
  const draft = draftFile(layout);
  if (!existsSync(draft)) return;
  readOrCreate(passwordFile(layout), () => readFileSync(draft, 'utf8'));
  rmSync(draft, { force: true });
}

/** The file that has the password of a database: the draft if the process that created it was killed before it published it. */
export const findPasswordFile = (layout: Layout): string =>
  [passwordFile(layout), draftFile(layout)].find((file) => existsSync(file)) ?? passwordFile(layout);

/** The superuser's password, from the file that only the gateway's user may read. @throws Error when there is none. */
export function readPassword(layout: Layout): string {
  const file = findPasswordFile(layout);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `The file ${file} is missing.` : `The file ${file} cannot be read: ${message}.`, {
      cause,
    });
  }
  if (!text) throw new Error(`The file ${file} is empty.`);
  return text;
}

/**
 * The superuser's password of an existing data directory. It is never generated again, because the server would reject it.
 *
 * @throws Error with the remedy when there is none.
 */
export function requirePassword(layout: Layout, binaries: Binaries): string {
  try {
    return readPassword(layout);
  } catch (cause) {
    throw new Error(`${(cause as Error).message} ${passwordRemedy(layout, binaries)}`, { cause });
  }
}

/** What to do when the password of an existing data directory is lost. */
export function passwordRemedy(layout: Layout, { postgres }: Binaries): string {
  const { cluster } = layout;
  const file = passwordFile(layout);
  return (
    `The file must contain the password that was generated for ${cluster}; the data cannot be opened without it. ` +
    'Restore the file from a backup. ' +
    'Without a backup, stop every gateway that uses this DATA_DIR, set a password of letters and digits in the single-user mode of ' +
    'PostgreSQL, as the user that owns the data, and write the same password to the file:\n\n' +
    `  echo "alter role gateway password 'NEW'" | ${shellWord(postgres)} --single -D ${shellWord(cluster)} postgres\n` +
    `  printf NEW > ${shellWord(file)}`
  );
}
