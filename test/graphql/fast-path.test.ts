import fc from 'fast-check';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Caller } from '../../src/caller.ts';
import type { GraphQLContext } from '../../src/graphql/context.ts';
import { schema } from '../../src/schema.ts';
import { createContext } from '../support/context.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createComparison, createPaths } from '../support/fuzz/paths.ts';
import { requestsOf } from '../support/fuzz/requests.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
const { stackTraceLimit } = Error;
beforeAll(async () => {
  Error.stackTraceLimit = 0; // most documents have errors, whose stacks are never read
  database = await createTestDatabase();
});
afterAll(async () => {
  Error.stackTraceLimit = stackTraceLimit;
  await database.close();
});

const anonymous = (): GraphQLContext => createContext(contextOn(database, Caller.anonymous));

// A failure prints the seed and the path that reproduce it: npm run fuzz -- --seed N --path P.
test('the fast path responds to requests of generated documents like the full pipeline, byte for byte', async () => {
  const { compare, known, figures } = await createComparison(database);
  await fc.assert(fc.asyncProperty(requestsOf(schema, known), compare), { numRuns: 150 });
  // Otherwise hardly anything was compared.
  expect(figures.fast).toBeGreaterThanOrEqual(300);
  expect(figures.executed).toBeGreaterThan(40);
  expect(figures.compiled).toBeGreaterThan(2);
  expect(figures.fast).toBeGreaterThan(figures.left);
  expect(figures.unseen).toBeGreaterThan(60);
  for (const [construct, count] of Object.entries(figures.constructs)) expect.soft(count, construct).toBeGreaterThan(0);
}, 120_000);

test('compiled pages of lists respond like the full pipeline, byte for byte, those that fail too', async () => {
  const own = await createTestDatabase();
  const { compare, known, figures } = await createComparison(own);
  const documents = [
    'query ($first: Int!) { userGroups(first: $first) { nodes { teamId name token environmentTag } } }',
    'query ($first: Int!) { events(last: $first) { nodes { id type } pageInfo { hasPreviousPage startCursor } } }',
    'query ($first: Int!) { apiTokens(first: $first) { edges { cursor node { name scopes } } } }',
    'query ($first: Int!, $after: String!) { userGroups(first: $first, after: $after) { edges { cursor node { id properties } } } }',
  ];
  for (const query of documents) {
    for (const caller of ['groups', 'admin', 'metrics', 'anonymous'] as const) {
      const variables = known.cursors.flatMap((after) => [1, 20, 0].map((first) => ({ first, after })));
      await compare({ query, variables: variables.slice(0, 6), others: {}, accept: undefined, caller });
    }
  }
  expect(figures.compiledPages).toBeGreaterThanOrEqual(documents.length);
  await own.close();
});

const many = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i)).join(' ');

test.each([
  ['fragments that spread each other twice', doublingFragments(11)],
  [
    'a large fragment that is spread often',
    `{ ${many(150, (i) => `a${i}: caller { ...F }`)} } fragment F on ApiToken { ${many(200, (i) => `b${i}: name`)} }`,
  ],
  ['fields without number', `{ ${many(400, (i) => `a${i}: caller { name }`)} }`],
])('does not compile a small document that would become a huge function: %s', async (_, query) => {
  const { full, compiles } = createPaths();
  expect(validate(schema, parse(query))).toEqual([]);
  expect(compiles(query)).toBe(false);
  expect((await full({ query }, undefined, anonymous())).body).toContain('"errors"');
});

test.each([
  ['query ($id: ID!) { userGroup(by: { id: $id }) { name mapping { schemaId } } caller { scopes } }', true],
  ['query ($after: String!) { userGroups(first: 20, after: $after) { nodes { token } pageInfo { endCursor } } }', true],
  ['{ events(last: 5) { edges { cursor node { type } } } }', true],
  // What fails in compiled code is executed again: never what may have kept the database busy for seconds.
  ['query ($search: String!) { userGroups(filter: { search: $search }) { nodes { token } } }', false],
  ['{ events(filter: { apiTokenId: "1" }) { nodes { type } } }', false],
  ['{ userGroups { totalCount } }', false],
])('decides by its fields whether a document is compiled: %s: %s', (query, isCompiled) => {
  expect(validate(schema, parse(query))).toEqual([]);
  expect(createPaths().compiles(query)).toBe(isCompiled);
});

/** A document of some 100 characters a fragment that names 2 to the power of `count` fields. */
function doublingFragments(count: number): string {
  const fragments = many(count, (i) => {
    const next = i + 1 < count ? `...F${i + 1}` : 'name';
    const events = `events(first: 1) { nodes { userGroup { ${next} } } }`;
    return `fragment F${i} on UserGroup { a: ${events} b: ${events} }`;
  });
  return `{ userGroup(by: { teamId: 1 }) { ...F0 } } ${fragments}`;
}
