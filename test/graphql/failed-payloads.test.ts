import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Caller } from '../../src/caller.ts';
import { GatewayError } from '../../src/errors.ts';
import { renderResult } from '../../src/graphql/execution/response.ts';
import { createContext } from '../support/context.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { contextOn } from '../support/queries.ts';

let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = (await gateway.issue({ scopes: ['groups:read', 'groups:write', 'audit:read'] })).secret;
  await gateway.graphql('mutation { getOrCreateUserGroup(input: { providedId: "acme" }) { __typename } }', {}, { token });
  // Events are recorded, and cannot be read.
  await gateway.database.pool.query(`
    create function fail() returns bool language plpgsql as $$ begin raise 'too slow' using errcode = '57014'; end $$;
    alter table event rename to stored_event;
    create view event as select * from stored_event where fail();`);
});
afterAll(() => gateway.close());

test('a change that was made is no failure of the request when a part of its payload cannot be read', async () => {
  const { json: before } = await gateway.graphql('{ userGroup(by: { providedId: "acme" }) { token } }', {}, { token });
  const document = `mutation ($currentToken: String!) { rotateUserGroupToken(input: { currentToken: $currentToken }) {
    ... on RotateUserGroupTokenPayload { userGroup { token events { nodes { id } } } } } }`;
  const response = await gateway.graphql(document, { currentToken: before.data.userGroup.token }, { token });
  expect([response.status, response.headers.get('retry-after')]).toEqual([200, null]);
  const { data, errors } = response.json;
  expect(errors).toMatchObject([{ path: ['rotateUserGroupToken', 'userGroup', 'events'], extensions: { code: 'UNAVAILABLE' } }]);
  const query = 'query ($token: String!) { userGroup(by: { token: $token }) { providedId } }';
  const { userGroup } = data.rotateUserGroupToken;
  const found = await gateway.graphql(query, { token: userGroup.token }, { token });
  expect([userGroup.events, found.json.data]).toEqual([null, { userGroup: { providedId: 'acme' } }]);
});

test('a query whose part cannot be read can be sent again', async () => {
  const response = await gateway.graphql(
    '{ userGroup(by: { providedId: "acme" }) { name events { nodes { id } } } }',
    {},
    { token },
  );
  expect([response.status, response.json.data]).toEqual([503, { userGroup: { name: 'acme', events: null } }]);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
});

const sendAlone = 'Too busy. This part was not executed, others may have been: send it alone. Try again.';
const unchanged = 'Too busy. Nothing was changed. Try again.';

test('a change that was made is not called refused when the API token may not read its result', async () => {
  const { secret } = await gateway.issue({ scopes: ['embed:sign'] });
  const document =
    'mutation { revokeEmbedTokens(input: { by: { providedId: "acme" } }) { ... on RevokeEmbedTokensPayload { userGroup { token } } } }';
  const send = (headers: Record<string, string> = {}) => gateway.graphql(document, {}, { token: secret, headers });
  const { status, json } = await send();
  expect([status, json.data]).toEqual([200, { revokeEmbedTokens: null }]);
  const lost = 'The change may have been made, and only its result is missing: look before you send it again.';
  expect(json.errors).toMatchObject([{ message: expect.stringContaining(lost), extensions: { code: 'FORBIDDEN' } }]);
});

test.each([
  ['', { revokeEmbedTokens: null }],
  ['__typename ', { __typename: 'Mutation', revokeEmbedTokens: null }],
])(
  'a keyed change is undone when the API token may not read its result: mutation { %srevokeEmbedTokens … }',
  async (before, data) => {
    const { secret } = await gateway.issue({ scopes: ['embed:sign'] });
    const change =
      'revokeEmbedTokens(input: { by: { providedId: "acme" } }) { ... on RevokeEmbedTokensPayload { userGroup { token } } }';
    const generation = async () =>
      (await gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: 'acme' } })).embedGeneration;
    const former = await generation();
    const headers = { 'idempotency-key': `a-key${before.trim()}` };
    const { json } = await gateway.graphql(`mutation { ${before}${change} }`, {}, { token: secret, headers });
    expect([json.data, json.errors[0].extensions.code]).toEqual([data, 'FORBIDDEN']);
    expect(json.errors[0].message).not.toContain('may have been made');
    expect(await generation()).toBe(former);
  },
);

test.each([
  [
    true,
    ['group', 'events'],
    { group: null },
    200,
    'Too busy. The change may have been made, and only its result is missing: look before you send it again.',
  ],
  [true, ['group', 'events'], { group: {} }, 200, 'Too busy. Try again.'],
  [true, ['group'], { other: {}, group: null }, 200, sendAlone],
  [true, ['group'], { __typename: 'Mutation', group: null }, 503, unchanged],
  [false, ['group', 'events'], { group: {} }, 503, unchanged],
])(
  'what was changed is not denied: a mutation %s, an error at %j, the result %j',
  (isMutation, path, data, expected, message) => {
    const operationInfo = { operation: '', cost: undefined, isMutation };
    const context = createContext(contextOn(gateway.database, Caller.anonymous), operationInfo);
    const originalError = new GatewayError('UNAVAILABLE', unchanged);
    const errors = [new GraphQLError('', { path, originalError })];
    const { status, body } = renderResult({ data, errors }, 'application/json', context);
    expect([status, JSON.parse(body as string).errors[0].message]).toEqual([expected, message]);
  },
);
