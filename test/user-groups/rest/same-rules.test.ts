import fc from 'fast-check';
import { type DocumentNode, execute, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken } from '../../../src/api-tokens/api-tokens.ts';
import { Caller } from '../../../src/caller.ts';
import { GatewayError, InvalidInput } from '../../../src/errors.ts';
import type { GraphQLContext } from '../../../src/graphql/builder.ts';
import { schema } from '../../../src/schema.ts';
import type { Scope } from '../../../src/scopes.ts';
import { mappingEntries } from '../../../src/user-groups/attributes.ts';
import { operations } from '../../../src/user-groups/rest.ts';
import { createContext } from '../../support/context.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { storedToken } from '../../support/keys.ts';
import { contextOn } from '../../support/queries.ts';
import { forgedToken, isTokenOf } from '../../support/tokens.ts';

let database: TestDatabase;
let callers: Caller[];

beforeAll(async () => {
  database = await createTestDatabase();
  const group = (providedId: string, environmentTag: 'Testing' | null, rest: object) =>
    database.prisma.userGroup.create({
      data: { providedId, environmentTag, name: 'Same', ...storedToken(`imported for ${providedId}`), ...rest },
    });
  await group('acme', 'Testing', { properties: { plan: 'gold' }, mapping: { a: 'b' } });
  await group('untagged', null, {});
  const issue = async (scopes: Scope[]) =>
    new Caller(
      (await createApiToken(contextOn(database), { name: 'test', environmentTag: 'Testing', scopes, expiresAt: null })).apiToken,
    );
  callers = [await issue(['groups:write']), await issue(['metrics:read']), Caller.anonymous];
});
afterAll(() => database.close());

const contextOf = (caller: Caller): GraphQLContext => createContext(contextOn(database, caller));

/** What an operation came to: its result as JSON, an input of wrong types, or a failure. */
type Outcome = { readonly result: string } | { readonly wrongTypes: true } | { readonly failed: string };

const failureFields = '... on Error { code message } ... on InvalidInput { issues { path message } }';
const groupFields = 'team_id: teamId token name provided_id: providedId';

/** The GraphQL mutation of each method, which gives what the method responds with. */
const getOrCreate = parse(`mutation ($input: GetOrCreateUserGroupInput!) { result: getOrCreateUserGroup(input: $input) {
  ... on GetOrCreateUserGroupPayload { new_user_group: created user_group: userGroup { ${groupFields} properties } } ${failureFields}
} }`);
const documents: Readonly<Record<string, DocumentNode>> = {
  GET: getOrCreate,
  QUERY: getOrCreate,
  PUT: parse(`mutation ($input: UpdateUserGroupInput!) { result: updateUserGroup(input: $input) {
    ... on UpdateUserGroupPayload { user_group: userGroup { ${groupFields} properties api_environment_tag: environmentTag } } ${failureFields}
  } }`),
  POST: parse(`mutation ($input: RotateUserGroupTokenInput!) { result: rotateUserGroupToken(input: $input) {
    ... on RotateUserGroupTokenPayload { user_group: userGroup { ${groupFields} api_environment_tag: environmentTag } } ${failureFields}
  } }`),
};

/** The input of the mutation that has the same members. */
function inputOf(method: string, members: Record<string, unknown>): object {
  const { user_group_id: providedId, current_token: currentToken, grace_seconds: graceSeconds, mapping, ...others } = members;
  if (method === 'POST') return { ...(Object.hasOwn(members, 'current_token') && { currentToken }), graceSeconds };
  const given = { ...others, ...(Object.hasOwn(members, 'mapping') && { mapping: mappingEntries(mapping) }) };
  if (method === 'PUT') return { by: { providedId }, ...given };
  return Object.hasOwn(members, 'user_group_id') ? { providedId, ...given } : given;
}

async function rest(method: string, members: Record<string, unknown>, context: GraphQLContext): Promise<Outcome> {
  try {
    const done = await operations[method]?.run({ context, members, expectedVersion: undefined });
    return { result: JSON.stringify(done?.body) };
  } catch (error) {
    if (!(error instanceof GatewayError)) return { failed: String(error) };
    return { result: JSON.stringify({ code: error.code, message: error.message, ...issuesOf(error) }) };
  }
}

/** The issues as GraphQL responds with them. */
const issuesOf = (error: GatewayError) =>
  error instanceof InvalidInput && { issues: error.issues.map(({ path, message }) => ({ path: path.map(String), message })) };

async function graphql(method: string, members: Record<string, unknown>, contextValue: GraphQLContext): Promise<Outcome> {
  const document = documents[method] as DocumentNode;
  const variableValues = { input: inputOf(method, members) };
  const { data, errors } = await execute({ schema, document, contextValue, variableValues });
  // The enum has other names.
  if (!errors?.[0]) return { result: JSON.stringify(data?.['result']).replace('"TESTING"', '"Testing"') };
  return data ? { failed: String(errors[0]) } : { wrongTypes: true };
}

/** Whether a text is a failure that says what is wrong: with issues, if it is the input. */
function isRefusal(outcome: Outcome): boolean {
  if (!('result' in outcome)) return false;
  const { code, message, issues } = JSON.parse(outcome.result) as { code?: string; message?: string; issues?: unknown[] };
  return code !== undefined && !!message && (code !== 'INVALID_INPUT' || (issues?.length ?? 0) > 0);
}

const wrong = fc.constantFrom<unknown>(null, 5, 1.5, true, [], {}, ['acme'], { a: 1 }, Number.NaN, 2 ** 40);

/** Members that name a group that is there, or none that could be made: a second request finds what the first one did. */
const right = {
  user_group_id: fc.constantFrom('acme', 'acme', 'acme', 'untagged'),
  current_token: fc.constantFrom(forgedToken('userGroup'), 'an imported one that is not there'),
  grace_seconds: fc.constantFrom(0, 60, 604_800),
  name: fc.constantFrom('Same', 'ä€😀', '__proto__'),
  mapping: fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.string({ minLength: 1, maxLength: 3 }), { maxKeys: 3 }),
  properties: fc.oneof(
    fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 })),
    fc.constantFrom({ plan: 'gold' }, null),
  ),
};
const refused = {
  user_group_id: fc.constantFrom('', 'x'.repeat(256), 'a\0', '\ud800'),
  current_token: fc.constantFrom('', 'short'),
  grace_seconds: fc.constantFrom(-1, 604_801),
  name: fc.constantFrom('', 'x'.repeat(256)),
  mapping: fc.oneof(fc.dictionary(fc.string({ maxLength: 2 }), wrong, { maxKeys: 3 }), fc.constant({ ['__proto__']: 'a' })),
  properties: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom({ a: Number.NaN })),
};
const required = ['user_group_id', 'current_token'] as const;
const members = fc.oneof(
  { weight: 2, arbitrary: fc.record(right, { requiredKeys: [...required] }) },
  {
    weight: 3,
    arbitrary: fc.record(
      Object.fromEntries(
        Object.entries(right).map(([name, value]) => [
          name,
          fc.oneof({ weight: 3, arbitrary: value as fc.Arbitrary<unknown> }, refused[name as keyof typeof refused], wrong),
        ]),
      ),
      { requiredKeys: [] },
    ),
  },
);

test('each REST method gives what the GraphQL mutation gives', async () => {
  const counts: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(
      // Not DELETE, which only the first of two requests can be permitted.
      fc.constantFrom(...Object.keys(documents)),
      members,
      fc.constantFrom(0, 0, 0, 1, 2),
      async (method, given, index) => {
        const context = contextOf(callers[index] as Caller);
        const actual = await rest(method, given as Record<string, unknown>, context);
        const expected = await graphql(method, given as Record<string, unknown>, context);
        // GraphQL's own texts about types are for its own clients: here every refusal says what is wrong in the REST API's terms.
        if ('wrongTypes' in expected) expect([actual, isRefusal(actual)]).toEqual([actual, true]);
        else expect(actual).toEqual(expected);
        const isSuccess = 'result' in expected && expected.result.includes('"user_group"');
        const kind = 'wrongTypes' in expected ? 'wrong types' : `${method} ${isSuccess ? 'success' : 'failure'}`;
        counts[kind] = (counts[kind] ?? 0) + 1;
      },
    ),
    { numRuns: 400 },
  );
  for (const kind of ['GET success', 'GET failure', 'PUT success', 'PUT failure', 'POST failure', 'wrong types']) {
    expect.soft(counts[kind], kind).toBeGreaterThan(0);
  }
}, 120_000);

test('a rotation that succeeds has a result of the same shape either way', async () => {
  const token = 'imported and to rotate';
  const data = { providedId: 'to rotate', environmentTag: 'Testing', name: 'R', ...storedToken(token) } as const;
  await database.prisma.userGroup.create({ data });
  const context = contextOf(callers[0] as Caller);
  const rotate = async (way: typeof rest, currentToken: string) => {
    const outcome = await way('POST', { current_token: currentToken }, context);
    return JSON.parse('result' in outcome ? outcome.result : '{}') as { user_group?: { token: string } };
  };
  const first = await rotate(rest, token);
  const second = await rotate(graphql, first.user_group?.token ?? '');
  expect(first.user_group?.token).toMatch(isTokenOf('userGroup'));
  expect(second.user_group?.token).not.toBe(first.user_group?.token);
  const shape = ({ user_group }: typeof first) => JSON.stringify({ user_group: { ...user_group, token: '' } });
  expect(shape(first)).toBe(shape(second));
});
