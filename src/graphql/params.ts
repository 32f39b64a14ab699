import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { ConfigError, GatewayError, InvalidInput, shorten } from '../errors.ts';
import { isEmptyBody, jsonValue } from '../http/body.ts';
import type { HttpRequest } from '../http/types.ts';
import { parseJson, parseQuery } from '../json.ts';
import { parseDocument, validateDocument } from './limits.ts';

/** The parameters of a request, checked. */
export interface Params {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

type Given = Readonly<Record<string, unknown>>;

/** What each parameter may be. */
const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const parameters = {
  query: [isText, 'must be a string.'],
  variables: [isObject, 'must be an object.'],
  operationName: [isText, 'must be a string.'],
  extensions: [isObject, 'must be an object.'],
  documentId: [isText, 'must be a string.'],
} as const;

/**
 * Reads the parameters as strictly as REST does: nothing is ignored in silence.
 *
 * @throws InvalidInput for unknown parameters and wrong types.
 * @throws GatewayError `PERSISTED_QUERY_NOT_SUPPORTED`, `PERSISTED_QUERY_NOT_FOUND`, and those of the body.
 */
export function readParams(request: HttpRequest, persisted: PersistedOperations | undefined): Params {
  const given = request.method === 'POST' ? readPost(request) : readGet(request);
  const names = Object.keys(given).slice(0, 20); // of more, some are unknown
  const issues = names.flatMap((name) => {
    const value = given[name];
    const known = Object.hasOwn(parameters, name) ? parameters[name as keyof typeof parameters] : undefined;
    if (!known && value != null) return [{ path: [name], message: unknownParameter }];
    return value == null || !known || known[0](value) ? [] : [{ path: [name], message: known[1] }];
  });
  if (issues.length > 0) throw new InvalidInput(issues);
  const { operationName, variables, extensions } = given;
  return {
    query: documentOf(given, persisted),
    variables: variables as Params['variables'],
    operationName: (operationName as string | null) || undefined, // the empty name is that of no operation
    extensions: extensions as Params['extensions'],
  };
}

const unknownParameter = 'is not a parameter of a GraphQL request; send only query, variables, operationName and extensions.';

function readPost(request: HttpRequest): Given {
  const params = jsonValue(request, 'Send {"query": "…", "variables": {…}}.');
  if (Array.isArray(params)) throw invalid([], 'Batches are not supported; send one operation, with aliases if need be.');
  if (!isObject(params)) throw invalid([], 'The body must be one JSON object.');
  for (const [name, value] of new URLSearchParams(request.query)) {
    const parameter = name.replace(/[[.].*/s, ''); // some clients write variables[name]
    if (Object.hasOwn(parameters, parameter) && params[name] !== value)
      throw invalid([name], 'is in the query string, but not the same in the body; send it in the body only.');
  }
  return params;
}

function readGet({ body, query }: HttpRequest): Given {
  if (!isEmptyBody(body)) throw invalid([], 'is in the body of a GET; send it with POST.');
  const given: Record<string, unknown> = {};
  for (const [name, value] of parseQuery(query)) {
    if (Object.hasOwn(given, name)) throw invalid([name], 'is given more than once.');
    given[name] = value;
  }
  for (const name of ['variables', 'extensions'])
    if (given[name] !== undefined)
      given[name] = given[name] === '' ? undefined : parseJson(given[name] as string, `The parameter ${name}`);
  return given;
}

const invalid = (path: readonly string[], message: string): InvalidInput => new InvalidInput([{ path, message }]);

function documentOf({ query, documentId, extensions }: Given, persisted: PersistedOperations | undefined): string {
  const hash = hashOf(extensions);
  if (persisted) return findPersisted(persisted, query as string | null | undefined, documentId ?? hash);
  if (documentId != null)
    throw invalid(
      ['documentId'],
      'needs the setting PERSISTED_OPERATIONS, which this gateway does not have; send the text as query.',
    );
  if (isText(query)) return query;
  // Clients recognize the text, and send the document.
  if (hash !== undefined) throw new GatewayError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
  throw invalid(['query'], 'is missing: send the text of a GraphQL document.');
}

/** The hash that Apollo's and urql's links for persisted queries send. */
function hashOf(extensions: unknown): unknown {
  const persistedQuery = isObject(extensions) ? extensions['persistedQuery'] : undefined;
  return isObject(persistedQuery) ? persistedQuery['sha256Hash'] : undefined;
}

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
function findPersisted(operations: PersistedOperations, query: string | null | undefined, id: unknown): string {
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
