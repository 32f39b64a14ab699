import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { ConfigError, GatewayError, InvalidInput, shorten } from '../errors.ts';
import { parseJson } from '../json.ts';
import type { Config } from '../settings.ts';
import { parseDocument, validateDocument } from './limits.ts';

/** The only documents that are executed. */
export interface PersistedOperations {
  /**
   * The document that a request names by its text or its id.
   *
   * @throws InvalidInput when they name none, or two. @throws GatewayError `PERSISTED_QUERY_NOT_FOUND` for an unknown id.
   */
  find(query: string | null | undefined, id: unknown): string;
}

type Settings = Pick<Config, 'persistedOperationsPath' | 'introspection' | 'console'>;

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
  const byId = new Map<string, string>();
  for (const { name, content } of await readFiles(path).catch(unreadable)) {
    try {
      for (const [id, text] of documentsOf(parseJson(content, 'the file'))) {
        const problem =
          byId.has(id) && byId.get(id) !== text ? 'another document has the same id' : problemOf(schema, text, introspection);
        if (problem) problems.push(`${name}: document ${JSON.stringify(shorten(id))}: ${problem}`);
        else byId.set(id, text as string);
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `PERSISTED_OPERATIONS ${problem}`));
  return persistedOperations(byId, console ? await consoleDocuments() : []);
}

/** @param others documents that have no other id than their hash. */
function persistedOperations(given: ReadonlyMap<string, string>, others: readonly string[]): PersistedOperations {
  const texts = new Set([...given.values(), ...others]);
  const byId = new Map(given);
  for (const text of texts) {
    const hash = createHash('sha256').update(text).digest('hex');
    for (const id of [hash, `sha256:${hash}`]) if (!byId.has(id)) byId.set(id, text);
  }
  return {
    find(query, id) {
      const named = typeof id === 'string' ? byId.get(id) : undefined;
      if (id != null && named === undefined && query == null)
        throw new GatewayError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'); // as clients expect it
      const text = named ?? query ?? undefined;
      if (text === undefined || !texts.has(text))
        throw notPersisted(text === undefined ? 'missing' : 'not a persisted operation');
      if (query != null && query !== text) throw notPersisted('not the document that the id names');
      return text;
    },
  };
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
  const isManifest = format === manifestFormat && Array.isArray(operations);
  const documents = isManifest
    ? operations.map((operation: { id?: unknown; body?: unknown }) => [String(operation?.id), operation?.body] as const)
    : Object.entries(typeof value === 'object' && !Array.isArray(value) ? (value ?? {}) : {});
  if (documents.length > 0) return documents;
  const message = `expected an object with the text of a document under each id, or a manifest with "format": "${manifestFormat}".`;
  throw new InvalidInput([{ path: [], message }]);
}

function problemOf(schema: GraphQLSchema, text: unknown, introspection: boolean): string | undefined {
  if (typeof text !== 'string') return 'expected the text of a GraphQL document';
  try {
    return validateDocument(schema, parseDocument(text), introspection).map(describe)[0];
  } catch (error) {
    if (error instanceof GraphQLError) return describe(error);
    throw error;
  }
}

function describe({ message, locations }: GraphQLError): string {
  const [place] = locations ?? [];
  return `${message}${place ? ` (line ${place.line}, column ${place.column})` : ''}`;
}

/** The documents that the web console sends. Loaded only with this setting: without it every document is executed. */
async function consoleDocuments(): Promise<readonly string[]> {
  const { default: documents } = await import('../generated/console-operations.json', { with: { type: 'json' } });
  return Object.values(documents);
}

/** The file itself, or the files of a folder whose names end in `.json` and do not begin with a dot. */
async function readFiles(path: string): Promise<{ readonly name: string; readonly content: string }[]> {
  const isFolder = (await stat(path)).isDirectory();
  const names = isFolder ? (await readdir(path)).filter((name) => /^[^.].*\.json$/.test(name)).sort() : [];
  if (isFolder && names.length === 0) throw new Error(`the folder ${path} has no file whose name ends in .json`);
  const files = isFolder ? names.map((name) => join(path, name)) : [path];
  return Promise.all(
    files.map(async (file) => {
      const content = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
      return { name: basename(file), content };
    }),
  );
}

function unreadable(error: Error): never {
  throw new ConfigError([`PERSISTED_OPERATIONS cannot be read: ${error.message}`]);
}
