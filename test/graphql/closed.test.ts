import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scope, scopeNames } from '../../src/domain/caller.ts';
import { tokenPrefixes } from '../../src/domain/tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let group: { id: string; token: string };
/** API tokens that are not in use. */
let spare: { rotated: number; revoked: number };
beforeAll(async () => {
  gateway = await startGateway();
  const { json } = await gateway.graphql(`mutation { getOrCreateUserGroup(input: { providedId: "acme" }) {
    ... on GetOrCreateUserGroupPayload { userGroup { id token } } } }`);
  group = json.data.getOrCreateUserGroup.userGroup;
  spare = { rotated: (await gateway.issue()).id, revoked: (await gateway.issue()).id };
});
afterAll(() => gateway.close());

const result = '{ __typename ... on Error { code message } }';

interface Operation {
  readonly document: () => string;
  /** The scopes of which each one is enough by itself, `admin` aside; any credential is, if there are none. */
  readonly scopes: readonly Scope[];
}

const read: Scope[] = ['groups:read'];
const write: Scope[] = ['groups:write'];
const validate: Scope[] = ['config:validate'];

/** For every root field an operation that succeeds with the right scope, by the name of the field and, if relevant, the selector. */
const operations: Record<string, Operation> = {
  caller: { document: () => '{ caller { __typename } }', scopes: [] },
  node: { document: () => `{ node(id: "${group.id}") { __typename } }`, scopes: read },
  nodes: { document: () => `{ nodes(ids: ["${group.id}"]) { __typename } }`, scopes: read },
  validateDocsConfig: { document: () => '{ validateDocsConfig(input: { source: "{}" }) { __typename } }', scopes: validate },
  validateDocsConfigs: { document: () => '{ validateDocsConfigs(inputs: [{ source: "{}" }]) { __typename } }', scopes: validate },
  metrics: { document: () => '{ metrics { requests } }', scopes: ['metrics:read'] },
  'userGroup by providedId': { document: () => '{ userGroup(by: { providedId: "acme" }) { __typename } }', scopes: read },
  'userGroup by teamId': { document: () => '{ userGroup(by: { teamId: 1 }) { __typename } }', scopes: read },
  'userGroup by id': { document: () => `{ userGroup(by: { id: "${group.id}" }) { __typename } }`, scopes: read },
  'userGroup by the id of no group': { document: () => '{ userGroup(by: { id: "x" }) { __typename } }', scopes: read },
  'userGroup by token': {
    document: () => `{ userGroup(by: { token: "${group.token}" }) { __typename } }`,
    scopes: ['groups:read', 'groups:resolve'],
  },
  userGroups: { document: () => '{ userGroups(filter: { search: "acme" }) { totalCount nodes { token } } }', scopes: read },
  apiTokens: { document: () => '{ apiTokens { totalCount nodes { name } } }', scopes: ['admin'] },
  createApiToken: {
    document: () => `mutation { createApiToken(input: { name: "new", scopes: ["groups:read"] }) ${result} }`,
    scopes: ['admin'],
  },
  rotateApiToken: { document: () => `mutation { rotateApiToken(input: { id: ${spare.rotated} }) ${result} }`, scopes: ['admin'] },
  revokeApiToken: { document: () => `mutation { revokeApiToken(input: { id: ${spare.revoked} }) ${result} }`, scopes: ['admin'] },
  getOrCreateUserGroup: {
    document: () => `mutation { getOrCreateUserGroup(input: { providedId: "acme" }) ${result} }`,
    scopes: write,
  },
  getOrCreateUserGroups: {
    document: () => `mutation { getOrCreateUserGroups(input: { groups: [{ providedId: "acme" }] }) ${result} }`,
    scopes: write,
  },
  deleteUserGroup: {
    document: () => `mutation { doomed: getOrCreateUserGroup(input: { providedId: "doomed" }) { __typename }
      deleteUserGroup(input: { by: { providedId: "doomed" } }) ${result} }`,
    scopes: write,
  },
  setUserGroupEnvironment: {
    document: () =>
      `mutation { setUserGroupEnvironment(input: { by: { providedId: "acme" }, environmentTag: TESTING }) ${result} }`,
    scopes: ['admin'],
  },
  updateUserGroup: {
    document: () => `mutation { updateUserGroup(input: { by: { providedId: "acme" } }) ${result} }`,
    scopes: write,
  },
  createEmbedToken: {
    document: () => `mutation { createEmbedToken(input: { by: { providedId: "acme" } }) ${result} }`,
    scopes: ['embed:sign'],
  },
  rotateUserGroupToken: {
    document: () =>
      `mutation { rotateUserGroupToken(input: { currentToken: "${group.token}", graceSeconds: 604800 }) ${result} }`,
    scopes: write,
  },
};

const fieldOf = (name: string): string => name.split(' ')[0] ?? '';

/** The code of a failed operation, of `errors` or of the result; `undefined` if it succeeded. */
async function codeOf(name: string, token: string | null): Promise<string | undefined> {
  const { json } = await gateway.graphql(operations[name]?.document() ?? '', {}, { token });
  return json.errors?.[0].extensions.code ?? json.data[fieldOf(name)]?.code;
}

test('covers every root field', async () => {
  const { json } = await gateway.graphql('{ __schema { queryType { fields { name } } mutationType { fields { name } } } }');
  const { queryType, mutationType } = json.data.__schema;
  const names = [...queryType.fields, ...mutationType.fields].map(({ name }: { name: string }) => name);
  expect(new Set(names)).toEqual(new Set(Object.keys(operations).map(fieldOf)));
});

describe.each(Object.entries(operations))('%s', (name, { document, scopes }) => {
  test('is available to some scope', async () => {
    expect(await codeOf(name, null)).toBe('UNAUTHENTICATED');
  });

  test('without an API token is not executed: 401 with errors only', async () => {
    const { secret } = await gateway.issue({ scopes: ['config:validate'] });
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      // The second time the document is known, and takes the fast path.
      for (const token of [null, secret, null]) {
        const reply = await gateway.graphql(document(), {}, { token, headers: { accept } });
        if (token !== null) continue;
        expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Token']);
        expect(Object.keys(reply.json)).toEqual(['errors']);
      }
    }
  });

  test('returns no data without an API token next to a field that needs none', async () => {
    const { status, json } = await gateway.graphql(document().replace('{', '{ __typename '), {}, { token: null });
    expect(status).toBe(200);
    expect(JSON.stringify(json.data)).not.toMatch(
      new RegExp(`"(?:UserGroup|ApiToken|\\w+Payload|\\w+Connection)"|${tokenPrefixes.userGroup}|${tokenPrefixes.apiToken}`),
    );
  });

  test('rejects an invalid credential', async () => {
    const reply = await gateway.graphql(document(), {}, { token: group.token });
    expect([reply.status, reply.json.errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(reply.headers.get('www-authenticate')).toBe('Token');
  });

  test.each([...scopeNames])(`with the scope %s: requires ${scopes.join(' or ')}`, async (scope) => {
    const { secret } = await gateway.issue({ scopes: [scope] });
    const isEnough = scope === 'admin' || scopes.length === 0 || scopes.includes(scope);
    expect(await codeOf(name, secret)).toBe(isEnough ? undefined : 'FORBIDDEN');
    group = await current();
  });
});

/** The group as it is now: a rotation that succeeded gave it another token. */
async function current(): Promise<typeof group> {
  return (await gateway.graphql('{ userGroup(by: { providedId: "acme" }) { id token } }')).json.data.userGroup;
}

test('introspection needs no API token', async () => {
  const { json } = await gateway.graphql('{ __typename __schema { queryType { name } } }', {}, { token: null });
  expect(json.data).toEqual({ __typename: 'Query', __schema: { queryType: { name: 'Query' } } });
});

test('a forbidden field does not affect the permitted ones', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['groups:write'] });
  const { json } = await gateway.graphql('{ caller { name } userGroup(by: { providedId: "acme" }) { id } }', {}, { token });
  expect(json.data).toEqual({ caller: { name: 'test' }, userGroup: null });
  expect(json.errors).toMatchObject([{ path: ['userGroup'], extensions: { code: 'FORBIDDEN' } }]);
});
