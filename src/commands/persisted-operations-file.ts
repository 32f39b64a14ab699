import { readFile, stat } from 'node:fs/promises';
import { type Config, ConfigError } from '../config.ts';
import {
  InvalidPersistedOperations,
  type PersistedOperations,
  parsePersistedOperations,
} from '../graphql/execution/persisted-operations.ts';
import { persistedOperationsLimits } from '../graphql/schema/limits.ts';

const { maxPersistedFileBytes } = persistedOperationsLimits;

/**
 * Reads the file in `PERSISTED_OPERATIONS`, and adds the documents of the web console if it is served; nothing if it is not set.
 *
 * @throws ConfigError with every problem when it cannot be read, is too large, or has a document that is not valid.
 */
export async function readPersistedOperations({
  persistedOperationsFile: path,
  introspection,
  console,
}: Config): Promise<PersistedOperations | undefined> {
  if (path === undefined) return undefined;
  try {
    return parsePersistedOperations(await readText(path), introspection, console ? await consoleDocuments() : []);
  } catch (error) {
    const problems =
      error instanceof InvalidPersistedOperations ? error.problems : [`cannot be read: ${(error as Error).message}`];
    throw new ConfigError(problems.map((problem) => `PERSISTED_OPERATIONS ${problem}`));
  }
}

/** The documents that the web console sends. Loaded only with this setting: without it every document is executed. */
async function consoleDocuments(): Promise<readonly string[]> {
  const { default: documents } = await import('../generated/console-operations.json', { with: { type: 'json' } });
  return Object.values(documents);
}

/**
 * @throws Error when it is not a regular file, such as a pipe or a device, which may never end, is too large, or is not UTF-8.
 */
async function readText(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is not a regular file`);
  if (found.size > maxPersistedFileBytes) throw new Error(`${path} exceeds the limit of ${maxPersistedFileBytes} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
}
