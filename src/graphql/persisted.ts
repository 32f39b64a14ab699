import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { ConfigError, GatewayError, InvalidInput, shorten } from '../errors.ts';
import { parseJson } from '../json.ts';
import { parseDocument, validateDocument } from './limits.ts';

/** The only documents that are executed, by their ids and by their hashes. */
export type PersistedOperations = ReadonlyMap<string, string>;

/** What the settings say about persisted operations. */
interface Settings {
  readonly persistedOperationsPath: string | undefined;
  readonly introspection: boolean;
  readonly console: boolean;
}

/**
 * Reads the file in `PERSISTED_OPERATIONS`, or the files of the folder, and adds the documents of the web console if it is
 * served; nothing if it is not set.
 *
 * @throws ConfigError with every problem.
 */
export async function readPersistedOperations(
  { persistedOperationsPath: path, introspection, console }: Settings,
  schema: GraphQLSchema,
): Promise<PersistedOperations | undefined> {
  if (path === undefined) return undefined;
  const problems: string[] = [];
  const operations = new Map<string, string>();
  for (const file of await filesOf(path).catch(unreadable)) {
    const content = await readFile(file, 'utf8').catch(unreadable);
    let place = basename(file);
    try {
      for (const [id, text] of documentsOf(parseJson(content, 'the file'))) {
        place = `${basename(file)}: document ${JSON.stringify(shorten(id))}`;
        if (typeof text !== 'string') throw new InvalidInput([{ path: [], message: 'expected the text of a GraphQL document' }]);
        const [error] = validateDocument(schema, parseDocument(text), introspection);
        if (error) throw error;
        if ((operations.get(id) ?? text) !== text) throw new InvalidInput([{ path: [], message: 'another has the same id' }]);
        operations.set(id, text);
      }
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof GraphQLError)) throw error;
      const [at] = (error as GraphQLError).locations ?? [];
      problems.push(`PERSISTED_OPERATIONS ${place}: ${error.message}${at ? ` (line ${at.line}, column ${at.column})` : ''}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  for (const text of [...operations.values(), ...(console ? await consoleDocuments() : [])]) {
    const hash = createHash('sha256').update(text).digest('hex');
    for (const id of [hash, `sha256:${hash}`]) if (!operations.has(id)) operations.set(id, text);
  }
  return operations;
}

/**
 * The document that a request names by its text or its id.
 *
 * @throws InvalidInput when they name none, or two. @throws GatewayError `PERSISTED_QUERY_NOT_FOUND` for an unknown id.
 */
export function findPersisted(operations: PersistedOperations, query: string | null | undefined, id: unknown): string {
  const named = typeof id === 'string' ? operations.get(id) : undefined;
  if (id != null && named === undefined && query == null)
    throw new GatewayError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'); // as clients expect it
  const text = named ?? query;
  if (text == null) throw notPersisted('missing');
  if (query != null && query !== text) throw notPersisted('not the document that the id names');
  if (!operations.has(createHash('sha256').update(text).digest('hex'))) throw notPersisted('not a persisted operation');
  return text;
}

const notPersisted = (problem: string): InvalidInput =>
  new InvalidInput([
    {
      path: ['query'],
      message: `is ${problem}. This gateway executes persisted operations only: send the documentId or the exact text of one, or ask the operator to add yours to PERSISTED_OPERATIONS.`,
    },
  ]);

const manifestFormat = 'apollo-persisted-query-manifest';

/**
 * The documents of a file: an object with the text of each document under its id, as Relay's compiler and GraphQL Code Generator
 * write it, or a manifest of Apollo. @throws InvalidInput for anything else.
 */
function documentsOf(value: unknown): (readonly [id: string, text: unknown])[] {
  const { format, operations } = Object(value) as Readonly<Record<string, unknown>>;
  if (format === manifestFormat && Array.isArray(operations))
    return operations.map((operation: { id?: unknown; body?: unknown }) => [String(operation?.id), operation?.body]);
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
    return Object.entries(value);
  const message = `expected an object with the text of a document under each id, or a manifest with "format": "${manifestFormat}".`;
  throw new InvalidInput([{ path: [], message }]);
}

/** The documents that the web console sends. Loaded only with this setting: without it every document is executed. */
async function consoleDocuments(): Promise<readonly string[]> {
  const { default: documents } = await import('../generated/console-operations.json', { with: { type: 'json' } });
  return Object.values(documents);
}

/** The file itself, or the files of a folder whose names end in `.json` and do not begin with a dot. */
async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /^[^.].*\.json$/.test(name)).sort();
  if (names.length === 0) throw new Error(`the folder ${path} has no file whose name ends in .json`);
  return names.map((name) => join(path, name));
}

function unreadable(error: Error): never {
  throw new ConfigError([`PERSISTED_OPERATIONS cannot be read: ${error.message}`]);
}
