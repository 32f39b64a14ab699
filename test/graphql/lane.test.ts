import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueApiToken } from '../../src/domain/api-tokens.ts';
import { Caller } from '../../src/domain/caller.ts';
import { bindStatements } from '../../src/domain/statements.ts';
import { createContext, type GraphQLContext } from '../../src/graphql/context.ts';
import { createGraphQLServer, type GraphQLServer } from '../../src/graphql/server.ts';
import { failureHeaders } from '../../src/http/problem.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type GeneratedRequest, type KnownGroup, requests } from '../support/requests.ts';

/** The `Accept` headers that clients send, the usual and some that are not. */
const acceptHeaders = [
  ...[undefined, '*/*', 'application/json', 'application/json, text/plain, */*', 'application/graphql-response+json'],
  ...[
    'application/graphql-response+json, application/json',
    'application/graphql-response+json,application/json;q=0.9',
    'text/html',
  ],
];

let database: TestDatabase;
let server: GraphQLServer;
let known: KnownGroup;
let callers: Caller[];
const faults: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  server = createGraphQLServer(failureHeaders, { introspection: true });
  const group = await database.prisma.userGroup.create({
    data: {
      providedId: 'acme',
      environmentTag: 'Testing',
      name: 'Same',
      token: 'an imported token',
      properties: { plan: 'gold' },
      mapping: { a: 'b' },
    },
  });
  await database.prisma.userGroup.create({ data: { providedId: 'untagged', name: 'U', token: 'another imported one' } });
  known = { ...group, id: Buffer.from(`UserGroup:${group.teamId}`).toString('base64') };
  const scopes = ['groups:read', 'groups:write'];
  const issue = (granted: string[]) =>
    issueApiToken(database.prisma, { name: 'test', environmentTag: 'Testing', scopes: granted, expiresAt: null });
  callers = [
    new Caller((await issue(scopes)).apiToken),
    new Caller((await issue(['config:validate'])).apiToken),
    Caller.anonymous,
  ];
});
afterAll(() => database.close());

const context = (caller: Caller): GraphQLContext =>
  createContext({
    db: { prisma: database.prisma, statements: bindStatements(database) },
    caller,
    report: ({ code }) => void faults.push(code),
  });

/** What the long way makes of a request. */
async function longWay(params: GeneratedRequest, accept: string | undefined, caller: Caller) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...(accept !== undefined && { accept }) } };
  const response = await server.fullPipeline({
    url: 'http://gateway/graphql',
    init,
    params: { ...params },
    characters: 10_000,
    context: context(caller),
  });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

const request = fc.record({
  accept: fc.constantFrom(...acceptHeaders),
  callerIndex: fc.constantFrom(0, 0, 0, 0, 1, 2),
  seed: fc.integer(),
});

test('the lane answers each of thousands of requests byte for byte as the long way does', async () => {
  let taken = 0;
  let left = 0;
  await fc.assert(
    fc.asyncProperty(requests(known), request, async (params, { accept, callerIndex }) => {
      const caller = callers[callerIndex] ?? Caller.anonymous;
      const expected = await longWay(params, accept, caller);
      // Four times: the first uses walk through the document, later ones run what was compiled of it.
      for (let use = 0; use < 4; use += 1) {
        const answer = await server.fastPath({ params: { ...params }, characters: 10_000, accept, context: context(caller) });
        if (answer) expect(withoutLength(answer)).toEqual(withoutLength(expected));
        if (answer) taken += 1;
        else left += 1;
      }
    }),
    { numRuns: 1_500 },
  );
  // Both happen: else the comparison compared nothing, or the lane took what it should leave.
  expect(taken).toBeGreaterThan(2_000);
  expect(left).toBeGreaterThan(500);
  expect(faults).toEqual([]);
}, 60_000);

test('a flood of distinct documents is forgotten again, and those in use are not', async () => {
  const caller = callers[0] as Caller;
  const used = { query: '{ caller { name } }' };
  await longWay(used, undefined, caller);
  for (let i = 0; i < 1_200; i += 1) {
    await longWay({ query: `{ a${i}: __typename }` }, undefined, caller);
    if (i % 100 === 0)
      expect(
        await server.fastPath({ params: used, characters: 1_000, accept: undefined, context: context(caller) }),
      ).toBeDefined();
  }
  expect(
    await server.fastPath({
      params: { query: '{ a0: __typename }' },
      characters: 1_000,
      accept: undefined,
      context: context(caller),
    }),
  ).toBeUndefined();
});

/** Header names in one case; the length follows from the body, and the listener adds it. */
function withoutLength({ headers, ...rest }: { status: number; headers: Record<string, string>; body: string }) {
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...rest, headers: Object.fromEntries(names.filter(([name]) => name !== 'content-length')) };
}

test.each([
  ['fragments that spread each other twice', doublingFragments(16)],
  [
    'a large fragment that is spread often',
    `{ ${Array.from({ length: 150 }, (_, i) => `a${i}: caller { ...F }`).join(' ')} } fragment F on ApiToken { ${Array.from({ length: 200 }, (_, i) => `b${i}: name`).join(' ')} }`,
  ],
])('a small document that would become a huge function is executed as it is: %s', async (_, query) => {
  for (let use = 0; use < 6; use += 1) {
    const params = { query };
    const answer = await server.fastPath({ params, characters: 10_000, accept: undefined, context: context(Caller.anonymous) });
    expect((answer ?? (await longWay(params, undefined, Caller.anonymous))).body).toContain('"errors"');
  }
});

/** A document of some 100 characters a fragment that names 2 to the power of `count` fields. */
function doublingFragments(count: number): string {
  const fragments = Array.from({ length: count }, (_, i) => {
    const next = i + 1 < count ? `...F${i + 1}` : 'group';
    return `fragment F${i} on DocsConfigGroup { a: pages { ... on DocsConfigGroup { ${next} } } b: pages { ... on DocsConfigGroup { ${next} } } }`;
  });
  return `{ validateDocsConfig(input: { source: "" }) { config { navigation { ...F0 } } } } ${fragments.join(' ')}`;
}
