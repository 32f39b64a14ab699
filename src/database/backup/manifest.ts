import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isRestorable } from './cluster-files.ts';
import { writeDurably } from './copy-file.ts';

/** The name of the manifest in a backup's folder. It is written last: a folder without it is not a backup. */
const manifestName = 'backup-manifest.ndjson';

/** The version of the layout of backups. A version that does not know a layout does not restore it. */
const layoutVersion = 1;

/** The limits of backups. docs/limits.md lists the same figures. */
export const backupLimits = {
  /** A manifest: that of 1,500,000 files. A new database has 1,300. */
  maxManifestBytes: 256 * 2 ** 20,
} as const;

/** What a backup is of. */
export interface BackupDescription {
  /** The version of the gateway that made it. */
  readonly gateway: string;
  /** The major version of PostgreSQL, in the form of a data directory's `PG_VERSION` file. */
  readonly postgres: string;
  /** PostgreSQL's number of the database cluster; a restored one has the same. */
  readonly systemIdentifier: string;
  /** When it was begun: every change that was acknowledged before is in it. ISO 8601, by the database's clock. */
  readonly startedAt: string;
  /** The time of the state that it restores: what was acknowledged later is not in it. ISO 8601, by the database's clock. */
  readonly completedAt: string;
  /** The last position of the write-ahead log that recovery needs. */
  readonly stopLsn: string;
}

/** A file of a backup. */
export interface BackupFile {
  /** Relative to the backup's folder, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Everything that belongs to a backup. */
export interface Manifest extends BackupDescription {
  /** The folders, each after the one that contains it. */
  readonly folders: readonly string[];
  readonly files: readonly BackupFile[];
}

/**
 * Writes the manifest: a line that describes the backup, one for each folder and file, and one with the checksum of the others.
 *
 * @throws Error when it would have more bytes than are read.
 */
export async function writeManifest(folder: string, { folders, files, ...description }: Manifest): Promise<void> {
  const lines = [
    { layout: layoutVersion, ...description },
    ...folders.map((path) => ({ folder: path })),
    ...files.map(({ path, bytes, sha256 }) => ({ file: path, bytes, sha256 })),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const content = Buffer.from(`${text}${JSON.stringify({ checksum: sha256Of(text) })}\n`);
  if (content.length > backupLimits.maxManifestBytes)
    throw new Error(`The database has ${files.length} files, more than a backup may have. Use pg_basebackup.`);
  await writeDurably(join(folder, manifestName), content);
}

/**
 * Reads the manifest of a backup.
 *
 * @throws Error when the folder is not a backup, the manifest is damaged, or a newer version wrote it.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName);
  const text = await readManifestText(path).catch((cause: NodeJS.ErrnoException) => {
    const missing = `${folder} is not a complete backup: it has no file ${manifestName}. Choose a folder that the command backup made.`;
    throw new Error(cause.code === 'ENOENT' || cause.code === 'ENOTDIR' ? missing : `${path} cannot be read: ${cause.message}`);
  });
  const lastLineAt = text.lastIndexOf('\n', text.length - 2) + 1;
  const listed = text.slice(0, lastLineAt);
  if (text.slice(lastLineAt) !== `${JSON.stringify({ checksum: sha256Of(listed) })}\n`) {
    throw new Error(`${path} was changed or cut off: its checksum is wrong. Restore another copy of the backup.`);
  }
  const [head = '', ...lines] = listed.split('\n').slice(0, -1);
  const malformed = (line: number) =>
    new Error(`${path} is damaged: line ${line} is not valid. Restore another copy of the backup.`);
  const { layout, ...description } = parseObject(head) ?? {};
  const { gateway } = description;
  if (!isText(gateway, descriptionForms.gateway)) throw malformed(1);
  if (layout !== layoutVersion)
    throw new Error(`${folder} was made by version ${gateway} of the gateway, in a layout that this one cannot read.`);
  if (!isDescription(description)) throw malformed(1);
  const folders: string[] = [];
  const files: BackupFile[] = [];
  for (const [index, text] of lines.entries()) {
    const { folder, file, bytes, sha256 } = parseObject(text) ?? {};
    if (typeof folder === 'string') folders.push(folder);
    else if (typeof file === 'string' && isSize(bytes) && isText(sha256, /^[0-9a-f]{64}$/))
      files.push({ path: file, bytes, sha256 });
    else throw malformed(index + 2);
  }
  const outside = [...folders, ...files.map((file) => file.path)].find((each) => !isInside(each));
  if (outside !== undefined) throw new Error(`${path} names ${JSON.stringify(outside)}, which is not in the backup.`);
  return { ...description, folders, files };
}

/** @throws Error when it is not a regular file, or too large. */
async function readManifestText(path: string): Promise<string> {
  if (!(await lstat(path)).isFile()) throw new Error('It is not a regular file.');
  // Opening a named pipe would wait for its writer otherwise.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error('It is not a regular file.');
    if (found.size > backupLimits.maxManifestBytes) throw new Error(`It has ${found.size} bytes, more than any manifest.`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

const time = /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/;

/** What the members of a description look like: messages contain them, and statements. */
const descriptionForms: Readonly<Record<keyof BackupDescription, RegExp>> = {
  gateway: /^[\w.+-]{1,100}$/,
  postgres: /^\d{1,3}$/,
  systemIdentifier: /^\d{1,20}$/,
  startedAt: time,
  completedAt: time,
  stopLsn: /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/,
};

const isDescription = (value: object): value is BackupDescription =>
  Object.entries(descriptionForms).every(([name, form]) => isText((value as Record<string, unknown>)[name], form));

const isText = (value: unknown, form: RegExp): value is string => typeof value === 'string' && form.test(value);

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The members of a JSON object; undefined if the text is none. */
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whether a path stays in its folder. */
const isInside = (path: string): boolean => path.split('/').every(isRestorable);
