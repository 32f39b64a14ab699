import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let database: TestDatabase;
/** One that has not counted anything. */
let gateway: TestGateway;
let reader: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  gateway = await startGateway(database);
  reader = (await gateway.issue({ scopes: ['metrics:read'] })).secret;
});
afterEach(() => gateway.close());
afterAll(() => database.close());

const document = '{ metrics { total { requests latency { p50Ms p99Ms } errors { code count } } slots { requests } } }';
const read = async () => (await gateway.graphql(document, {}, { token: reader })).json.data.metrics;

const rotate = 'mutation { rotateUserGroupToken(input: { currentToken: "unknown token of a group" }) { __typename } }';
const update = `mutation { updateUserGroup(input: { by: { providedId: "no such" } name: "x" }) { __typename } }`;

test('counts requests by either API, and how long they took, but no pages and no health checks', async () => {
  for (const path of ['/', '/livez', '/docs/errors', '/nowhere']) await gateway.send('GET', path, { token: null });
  for (let i = 0; i < 5; i += 1) await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  await gateway.graphql('{ caller { name } }');
  const { total, slots } = await read();
  const { requests, latency, errors } = total;
  expect({ requests, errors }).toEqual({ requests: 6, errors: [] });
  expect(latency.p50Ms).toBeGreaterThan(0);
  expect(latency.p99Ms).toBeGreaterThanOrEqual(latency.p50Ms);
  expect(slots.reduce((sum: number, slot: { requests: number }) => sum + slot.requests, 0)).toBe(6);
});

/** Requests that fail, each in another way. */
const failures: Record<string, [code: string, send: () => Promise<unknown>]> = {
  'REST, before the handler': ['UNAUTHENTICATED', () => gateway.send('GET', '/api/user', { token: null })],
  'REST, in the handler': ['BODY_REQUIRED', () => gateway.send('GET', '/api/user')],
  'REST, an expected failure': [
    'NOT_FOUND',
    () => gateway.send('PUT', '/api/user', { body: { user_group_id: 'no such', name: 'x' } }),
  ],
  'GraphQL, a document that is not valid': ['INVALID_INPUT', () => gateway.graphql('{ nothing }')],
  'GraphQL, an expected failure, which is data': ['NOT_FOUND', () => gateway.graphql(update)],
  'GraphQL, twice the same failure in one response': [
    'NOT_FOUND',
    () => gateway.graphql(`mutation { a: ${update.slice(11, -2)} b: ${update.slice(11, -2)} }`),
  ],
  'GraphQL, a scope that is missing': ['FORBIDDEN', () => gateway.graphql('{ metrics { total { requests } } }')],
  'GraphQL, no credential for a mutation': ['UNAUTHENTICATED', () => gateway.graphql(rotate, {}, { token: null })],
};

describe('counts a response with an error once, by its code', () => {
  test.each(Object.entries(failures))('%s', async (_, [code, send]) => {
    // Often enough that the document is executed by the full pipeline, by the fast path, and compiled.
    for (let i = 0; i < 6; i += 1) await send();
    expect((await read()).total).toMatchObject({ requests: 6, errors: [{ code, count: 6 }] });
  });
});
