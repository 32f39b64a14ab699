import { GatewayError, InvalidInput } from '../errors.ts';
import { isEmptyBody, jsonValue } from '../http/body.ts';
import type { HttpRequest } from '../http/types.ts';
import { parseJson, parseQuery } from '../json.ts';
import { findPersisted, type PersistedOperations } from './persisted.ts';

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
