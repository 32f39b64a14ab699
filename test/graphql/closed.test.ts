import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let group: { id: string; token: string };
beforeAll(async () => {
  gateway = await startGateway();
  const { json } = await gateway.graphql(`mutation { getOrCreateUserGroup(input: { providedId: "acme" }) {
    ... on GetOrCreateUserGroupPayload { userGroup { id token } } } }`);
  group = json.data.getOrCreateUserGroup.userGroup;
});
afterAll(() => gateway.close());

const result = '{ __typename ... on Error { code message } }';

/** For every root field an operation that succeeds for whoever may, and the scope that it takes. */
const operations: Record<string, [document: () => string, scope?: 'groups:read' | 'groups:write' | 'config:validate']> = {
  caller: [() => '{ caller { __typename } }'],
  node: [() => `{ node(id: "${group.id}") { __typename } }`, 'groups:read'],
  nodes: [() => `{ nodes(ids: ["${group.id}"]) { __typename } }`, 'groups:read'],
  validateDocsConfig: [() => '{ validateDocsConfig(input: { source: "{}" }) { __typename } }', 'config:validate'],
  validateDocsConfigs: [() => '{ validateDocsConfigs(inputs: [{ source: "{}" }]) { __typename } }', 'config:validate'],
  userGroup: [() => '{ userGroup(by: { providedId: "acme" }) { __typename } }', 'groups:read'],
  getOrCreateUserGroup: [() => `mutation { getOrCreateUserGroup(input: { providedId: "acme" }) ${result} }`, 'groups:write'],
  updateUserGroup: [() => `mutation { updateUserGroup(input: { by: { providedId: "acme" } }) ${result} }`, 'groups:write'],
  rotateUserGroupToken: [
    () => `mutation { rotateUserGroupToken(input: { currentToken: "${group.token}", graceSeconds: 604800 }) ${result} }`,
    'groups:write',
  ],
};

/** The code of the failure of a field, wherever it stands; none if it succeeded. */
async function codeOf(field: string, token: string | null): Promise<string | undefined> {
  const { json } = await gateway.graphql(operations[field]?.[0]() ?? '', {}, { token });
  return json.errors?.[0].extensions.code ?? json.data[field]?.code;
}

test('every root field is looked at here', async () => {
  const { json } = await gateway.graphql('{ __schema { queryType { fields { name } } mutationType { fields { name } } } }');
  const { queryType, mutationType } = json.data.__schema;
  const names = [...queryType.fields, ...mutationType.fields].map(({ name }: { name: string }) => name);
  expect(new Set(names)).toEqual(new Set(Object.keys(operations)));
});

describe.each(Object.keys(operations))('%s', (field) => {
  const [, scope] = operations[field] ?? [];

  test('is closed to nobody', async () => {
    expect(await codeOf(field, null)).toBe('UNAUTHENTICATED');
  });

  test('without an API token is not executed: 401 with errors only', async () => {
    const query = operations[field]?.[0]() ?? '';
    const { secret } = await gateway.issue({ scopes: ['config:validate'] });
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      // The second time the document is known, and takes the fast path.
      for (const token of [null, secret, null]) {
        const reply = await gateway.graphql(query, {}, { token, headers: { accept } });
        if (token !== null) continue;
        expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Token']);
        expect(Object.keys(reply.json)).toEqual(['errors']);
      }
    }
  });

  test('gives no data without an API token beside a field that needs none', async () => {
    const query = operations[field]?.[0]() ?? '';
    const { status, json } = await gateway.graphql(query.replace('{', '{ __typename '), {}, { token: null });
    expect(status).toBe(200);
    expect(JSON.stringify(json.data)).not.toMatch(/"UserGroup"|ApiToken|Payload|ugt_/);
  });

  test('is refused to a credential that is not accepted', async () => {
    const reply = await gateway.graphql(operations[field]?.[0]() ?? '', {}, { token: group.token });
    expect([reply.status, reply.json.errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(reply.headers.get('www-authenticate')).toBe('Token');
  });

  test(`takes the scope ${scope ?? 'of none'}`, async () => {
    for (const held of ['groups:read', 'groups:write', 'config:validate'] as const) {
      const { secret } = await gateway.issue({ scopes: [held] });
      if (scope === undefined || held === scope) continue;
      expect([held, await codeOf(field, secret)]).toEqual([held, 'FORBIDDEN']);
    }
    const { secret } = await gateway.issue({ scopes: [scope ?? 'config:validate'] });
    expect(await codeOf(field, secret)).toBeUndefined();
    group = await current();
  });

  test('is open to admin', async () => {
    const { secret } = await gateway.issue({ scopes: ['admin'] });
    expect(await codeOf(field, secret)).toBeUndefined();
    group = await current();
  });
});

/** The group as it is now: a rotation that succeeded gave it another token. */
async function current(): Promise<typeof group> {
  return (await gateway.graphql('{ userGroup(by: { providedId: "acme" }) { id token } }')).json.data.userGroup;
}

test('the schema may be read by anybody', async () => {
  const { json } = await gateway.graphql('{ __typename __schema { queryType { name } } }', {}, { token: null });
  expect(json.data).toEqual({ __typename: 'Query', __schema: { queryType: { name: 'Query' } } });
});

test('a refusal among other fields leaves those that are allowed', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['groups:write'] });
  const { json } = await gateway.graphql('{ caller { name } userGroup(by: { providedId: "acme" }) { id } }', {}, { token });
  expect(json.data).toEqual({ caller: { name: 'test' }, userGroup: null });
  expect(json.errors).toMatchObject([{ path: ['userGroup'], extensions: { code: 'FORBIDDEN' } }]);
});
