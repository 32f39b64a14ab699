import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, errorCatalog } from '../../src/error-catalog.ts';
import { headersOf } from '../../src/http/problem.ts';
import type { Route } from '../../src/http/types.ts';
import { pages } from '../support/access-matrix.ts';
import { openApiDocument } from '../support/openapi.ts';
import { errorResponses, openApiMethods, operationsOf } from '../support/openapi-document.ts';
import { routes } from '../support/routes.ts';

const { paths, components, info } = openApiDocument;

/** What needs no API token is a page or a file, but for these paths. */
const openOperations = ['/.well-known/jwks.json', '/livez', '/readyz'];
const operationRoutes = routes.filter(({ path }) => !(path in pages) || openOperations.includes(path));

/** The ways to send a credential to a route, as the document has them. */
function securityOf({ credential, schemes }: Route): object[] {
  if (credential === 'ignored') return [];
  const accepted = [{ token: [] }, ...(schemes?.includes('Bearer') === false ? [] : [{ bearer: [] }])];
  return credential === 'required' ? accepted : [...accepted, {}];
}

test('openapi.yaml has the paths of the route table, without pages and files, and no others', () => {
  expect(new Set(Object.keys(paths))).toEqual(new Set(operationRoutes.map(({ path }) => path)));
});

test.each(operationRoutes)('openapi.yaml has the methods and the credentials of $path', (route) => {
  const item = paths[route.path] ?? {};
  const operations = operationsOf(item);
  // OpenAPI 3.1 has no QUERY, and a HEAD goes without saying more.
  const prose = route.methods.filter((method) => ['QUERY', 'HEAD'].includes(method));
  const methods = route.methods.filter((method) => !prose.includes(method));
  expect(new Set(operations.map(([method]) => method))).toEqual(new Set(methods));
  for (const method of prose) expect(item.get?.description).toContain(method);
  for (const [, operation] of operations) expect(operation.security).toEqual(securityOf(route));
  const known: readonly string[] = [...openApiMethods, 'description', 'x-other-methods'];
  expect(Object.keys(item).filter((name) => !known.includes(name))).toEqual([]);
});

test('every parameter of a query string is a text, a number or a list: clients of some generators lose the members of an object', () => {
  const parameters = Object.values(paths).flatMap((item) => operationsOf(item).flatMap(([, { parameters = [] }]) => parameters));
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  expect(inQuery.map(({ name }) => name)).toContain('mapping');
  for (const parameter of inQuery) {
    const isJson = 'contentMediaType' in (parameter.schema ?? {});
    const type = expect.stringMatching(/^(string|integer|array)$/);
    expect.soft(parameter).toMatchObject({ schema: { type }, ...(isJson && { explode: false }) });
  }
});

test('the command of each operation sends the examples of its parameters and body', () => {
  for (const [, operation] of Object.values(paths).flatMap(operationsOf)) {
    const { 'x-curl': command, parameters = [], requestBody } = operation;
    const json = requestBody?.content['application/json']?.example;
    const sent = [json, ...parameters.map(({ example }) => example)].filter((example) => example !== undefined);
    const texts = sent.map((example) =>
      typeof example === 'object' && !Array.isArray(example) ? JSON.stringify(example) : `${example}`,
    );
    for (const text of texts) expect(command.replaceAll('\\"', '"')).toContain(text);
  }
});

test('openapi.yaml has the version of the package', () => {
  expect(info.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});

describe('the errors of openapi.yaml', () => {
  /** The responses with their codes, and the code of each with its position. */
  const responses = errorResponses(openApiDocument).map((response) => {
    const problem = response.content?.['application/problem+json'];
    const narrowed = problem?.schema.allOf?.[1]?.properties;
    return { ...response, examples: problem?.examples ?? {}, codes: (narrowed?.['code']?.enum ?? []) as ErrorCode[] };
  });
  const codes = responses.flatMap((response) => response.codes.map((code, index) => ({ ...response, code, index })));

  // That none is missing from the responses is proved where the tests of the API validate each response.
  test('are those of the catalog', () => {
    expect(components.schemas['ErrorCode']?.enum).toEqual(Object.keys(errorCatalog));
    expect(codes.length).toBeGreaterThan(10);
  });

  test.each(codes)('$code says what the catalog says, and has its headers and an example', (response) => {
    const { code, index, description, headers, examples } = response;
    const { status, title, remedy } = errorCatalog[code];
    expect(description.split('\n\n')[index]?.replaceAll('\n', ' ')).toBe(`\`${code}\`: ${title}. ${remedy}`);
    expect(examples[code]?.value).toMatchObject({ status, title, code, type: `/docs/errors/${code}` });
    expect(Object.keys(headers ?? {}).map((name) => name.toLowerCase())).toEqual(
      expect.arrayContaining(Object.keys(headersOf({ code }))),
    );
  });

  test('have no other examples', () => {
    expect(responses.flatMap(({ examples }) => Object.keys(examples))).toEqual(codes.map(({ code }) => code));
  });
});
