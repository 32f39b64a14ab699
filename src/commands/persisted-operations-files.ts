import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { runPeriodically } from '../concurrency/periodic.ts';
import {
  InvalidPersistedOperations,
  type PersistedFile,
  type PersistedOperations,
  parsePersistedOperations,
} from '../graphql/execution/persisted-operations.ts';
import { persistedOperationsLimits } from '../graphql/limits.ts';
import { schema } from '../schema.ts';
import { type Config, ConfigError } from '../settings.ts';

const { maxPersistedFileBytes } = persistedOperationsLimits;

/** How often it is looked whether the files have changed, in milliseconds. */
const lookMs = 2_000;

/** The persisted operations, which may change. */
export interface FollowedOperations extends PersistedOperations {
  /**
   * Reads the files again whenever they change, by their inodes and times. While they cannot be read or are not valid,
   * which is logged once, what was read before stays in force.
   *
   * @returns a function that stops it.
   */
  follow(log: Logger): () => Promise<void>;
}

type Settings = Config;

/**
 * Reads the file in `PERSISTED_OPERATIONS`, or the files of the folder, and adds the documents of the web console if it is
 * served; nothing if it is not set.
 *
 * @throws ConfigError with every problem when they cannot be read, are too large, or have a document that is not valid.
 */
export async function readPersistedOperations(settings: Settings): Promise<FollowedOperations | undefined> {
  const path = settings.persistedOperationsPath;
  if (path === undefined) return undefined;
  const own = settings.console ? await consoleDocuments() : [];
  const read = async () => parsePersistedOperations(await readFiles(path), schema, settings.introspection, own);
  // Before the files are read: what changes meanwhile is read again.
  let version: string | undefined = await versionOf(path);
  let operations: PersistedOperations;
  /** The problems that were logged last. */
  let logged: string | undefined;
  try {
    operations = await read();
  } catch (error) {
    throw new ConfigError(problemsOf(error).map((problem) => `PERSISTED_OPERATIONS ${problem}`));
  }
  const lookForChange = async (log: Logger) => {
    const found = await versionOf(path);
    if (found === version) return;
    try {
      operations = await read();
      version = found;
      logged = undefined;
      log.info('PERSISTED_OPERATIONS changed and was read again');
    } catch (error) {
      // What cannot be read now is read the next time, also if the files are those that were read before.
      version = error instanceof InvalidPersistedOperations ? found : undefined;
      const problems = problemsOf(error);
      if (problems.join('\n') === logged) return;
      logged = problems.join('\n');
      log.error(
        { problems },
        'PERSISTED_OPERATIONS changed and is not valid; the operations that were read before stay in force',
      );
    }
  };
  return {
    resolve: (params) => operations.resolve(params),
    follow(log) {
      const onFailure = (error: unknown) => log.error({ err: error }, 'PERSISTED_OPERATIONS could not be followed');
      return runPeriodically(() => lookForChange(log), { firstDelayMs: lookMs, nextDelayMs: () => lookMs, onFailure });
    },
  };
}

const problemsOf = (error: unknown): readonly string[] =>
  error instanceof InvalidPersistedOperations ? error.problems : [`cannot be read: ${(error as Error).message}`];

/** The documents that the web console sends. Loaded only with this setting: without it every document is executed. */
async function consoleDocuments(): Promise<readonly string[]> {
  const { default: documents } = await import('../generated/console-operations.json', { with: { type: 'json' } });
  return Object.values(documents);
}

/**
 * What changes with the files: their content, owner and mode, where a symbolic link on the way to one leads, and how many there
 * are. By the time of the last change of status, which no program can set back.
 */
async function versionOf(path: string): Promise<string> {
  try {
    const files = await findFiles(path);
    const stats = await Promise.all(files.map((file) => stat(file, { bigint: true })));
    return stats.map(({ dev, ino, ctimeNs }, index) => `${files[index]} ${dev} ${ino} ${ctimeNs}`).join('\n');
  } catch (error) {
    return (error as Error).message;
  }
}

/** The file itself, or the files of a folder whose names end in `.json` and do not begin with a dot, sorted. */
async function findFiles(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  if (names.length === 0) throw new Error(`the folder ${path} has no file whose name ends in .json`);
  return names.sort().map((name) => join(path, name));
}

/**
 * @throws Error when one is not a regular file, such as a pipe or a device, which may never end, or not UTF-8, or when they are
 *   too large.
 */
async function readFiles(path: string): Promise<PersistedFile[]> {
  const files = await findFiles(path);
  let bytes = 0;
  for (const file of files) {
    const found = await stat(file);
    if (!found.isFile()) throw new Error(`${file} is not a regular file`);
    bytes += found.size;
    if (bytes > maxPersistedFileBytes) throw new Error(`${path} exceeds the limit of ${maxPersistedFileBytes} bytes`);
  }
  const isFolder = files[0] !== path;
  const read: PersistedFile[] = [];
  for (const file of files) {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
    read.push({ name: isFolder ? basename(file) : undefined, content });
  }
  return read;
}
