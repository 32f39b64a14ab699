import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bindApiTokenWrites } from '../../src/database/queries/api-token-writes.ts';
import { revokeApiToken, rotateApiToken } from '../../src/domain/api-tokens.ts';
import { scopeNames } from '../../src/domain/caller.ts';
import { issueToken, tokenPrefixes } from '../../src/domain/tokens.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';
import { routes } from '../support/openapi.ts';
import { type Access, operations, pages, restOperations, type Target } from '../support/operations.ts';

let gateway: TestGateway;
/** API tokens that are not in use. */
let spare: Target['spare'];
/** What operations are about, unless they change it. */
let acme: Target;
/** What is sent as the API token, by the name of the credential. */
const secrets = new Map<string, string | null>();

const invalid = ['malformed', 'a user group token', 'unknown', 'replaced', 'revoked', 'expired'] as const;
const other = 'every scope but admin in another environment';
const credentials = ['none', ...invalid, ...scopeNames, other];

beforeAll(async () => {
  gateway = await startGateway();
  spare = { rotated: (await gateway.issue()).id, revoked: (await gateway.issue()).id };
  acme = await create('acme');
  const { prisma } = gateway.database;
  const issue = () => gateway.issue({ scopes: ['admin'] });
  const [replaced, revoked] = [await issue(), await issue()];
  await rotateApiToken({ prisma, writes: bindApiTokenWrites(gateway.database) }, replaced.id, 0);
  await revokeApiToken(prisma, revoked.id);
  const { secret: expired } = await gateway.issue({ scopes: ['admin'], expiresAt: new Date(Date.now() - 1) });
  const scopes = scopeNames.filter((scope) => scope !== 'admin');
  secrets.set('none', null).set('malformed', `${gateway.token}0`).set('a user group token', acme.token);
  secrets.set('unknown', issueToken('apiToken')).set('replaced', replaced.secret);
  secrets.set('revoked', revoked.secret).set('expired', expired);
  secrets.set(other, (await gateway.issue({ environment: 'Customer', scopes })).secret);
  for (const scope of scopeNames) secrets.set(scope, (await gateway.issue({ scopes: [scope] })).secret);
});
afterAll(() => gateway.close());

async function create(providedId: string): Promise<Target> {
  const { json } = await gateway.graphql(
    `mutation ($id: String!) { getOrCreateUserGroup(input: { providedId: $id, name: "secret name" }) {
      ... on GetOrCreateUserGroupPayload { userGroup { id teamId providedId token } } } }`,
    { id: providedId },
  );
  const group = json.data.getOrCreateUserGroup.userGroup;
  const { occurredAt, id } = await gateway.database.prisma.event.findFirstOrThrow({ where: { teamId: group.teamId } });
  const event = Buffer.from(`Event:${occurredAt.getTime()}.${id}`).toString('base64');
  return { ...group, event, spare };
}

const fieldOf = (name: string): string => name.split(' ')[0] ?? '';

/** The outcome of a GraphQL operation: of all that it selects of one group or list, nothing may be there if it finds nothing. */
function graphqlOutcome(name: string, { json }: Reply): string {
  const data = json.data?.[fieldOf(name)];
  const code = json.errors?.[0].extensions.code ?? data?.code;
  if (code) return code;
  const isNothing =
    data === null || [null, '[null]', '{"totalCount":0,"nodes":[],"edges":[]}', '{"nodes":[]}'].includes(JSON.stringify(data));
  return isNothing ? 'nothing' : 'success';
}

const stored = ({ teamId }: Target) => gateway.database.prisma.userGroup.findUnique({ where: { teamId } });

let groups = 0;

/** Sends an operation with each credential. An operation that fails changes nothing, and its response has nothing of the group. */
async function outcomesOf(
  { changes }: Access,
  send: (group: Target, token: string | null) => Promise<Reply>,
  outcomeOf: (reply: Reply) => string,
): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const credential of credentials) {
    groups += 1;
    const group = changes ? await create(`group ${groups}`) : acme;
    const before = await stored(group);
    const reply = await send(group, secrets.get(credential) ?? null);
    outcomes[credential] = outcomeOf(reply);
    if (credential === other || outcomes[credential] !== 'success') expect(await stored(group)).toEqual(before);
    if (outcomes[credential] !== 'success') expect(reply.text).not.toMatch(new RegExp(`secret name|${group.token}|${group.id}`));
    if (outcomes[credential] === 'UNAUTHENTICATED') {
      expect([reply.status, reply.headers.get('www-authenticate'), reply.json.data]).toEqual([401, 'Token', undefined]);
    }
  }
  return outcomes;
}

/** What should become of an operation with each credential. */
const expectedOutcomes = ({ scopes, elsewhere, finds = 'success' }: Access): Record<string, string> => ({
  ...Object.fromEntries(['none', ...invalid].map((credential) => [credential, 'UNAUTHENTICATED'])),
  ...Object.fromEntries(
    scopeNames.map((scope) => {
      const isEnough = scope === 'admin' || scopes.length === 0 || scopes.includes(scope);
      return [scope, isEnough ? finds : 'FORBIDDEN'];
    }),
  ),
  [other]: elsewhere,
});

test('every root field has an operation here', () => {
  const names = [schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.keys(type?.getFields() ?? {}));
  expect(new Set(Object.keys(operations).map(fieldOf))).toEqual(new Set(names));
});

test('every method of every other route has an operation here, or its route is a page', () => {
  const others = routes.filter(({ path }) => path !== '/graphql');
  const closed = others.filter(({ credential }) => credential !== 'ignored');
  const operationsOf = closed.flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`));
  expect(new Set(Object.keys(restOperations))).toEqual(new Set(operationsOf));
  const open = others.filter(({ credential }) => credential === 'ignored');
  expect(new Set(Object.keys(pages))).toEqual(new Set(open.map(({ path }) => path)));
});

test.each(Object.entries(operations))('%s by each credential', async (name, operation) => {
  const send = (group: Target, token: string | null) => gateway.graphql(operation.document(group), {}, { token });
  expect(await outcomesOf(operation, send, (reply) => graphqlOutcome(name, reply))).toEqual(expectedOutcomes(operation));
});

test.each(Object.entries(restOperations))('%s by each credential', async (name, operation) => {
  const [method = '', path = ''] = name.split(' ');
  const send = (group: Target, token: string | null) => {
    const body = operation.body(group);
    const headers = typeof body === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
    return gateway.send(method, path, { token, body, headers });
  };
  const outcomeOf = ({ status, json }: Reply) => {
    if (status !== 200) return json.code;
    return json?.active === false ? 'nothing' : 'success';
  };
  expect(await outcomesOf(operation, send, outcomeOf)).toEqual(expectedOutcomes(operation));
});

test.each(Object.entries(pages))('%s by each credential', async (route, path) => {
  for (const method of routes.find((each) => each.path === route)?.methods ?? []) {
    const replies = await Promise.all(
      credentials.map((credential) => gateway.send(method, path, { token: secrets.get(credential) ?? null })),
    );
    expect(replies.map(({ status }) => status)).toEqual(credentials.map(() => 200));
  }
});

test('introspection of the schema needs no API token, the playground is for requests without one; both refuse an invalid one', async () => {
  for (const credential of credentials) {
    const token = secrets.get(credential) ?? null;
    const isInvalid = invalid.some((each) => each === credential);
    const schemaQuery = await gateway.graphql('{ __typename __schema { queryType { name } } }', {}, { token });
    expect([credential, schemaQuery.status]).toEqual([credential, isInvalid ? 401 : 200]);
    const page = await gateway.send('GET', '/graphql', { token, headers: { accept: 'text/html' } });
    expect([credential, page.status]).toEqual([credential, isInvalid ? 401 : credential === 'none' ? 200 : 406]);
  }
});

describe.each(Object.entries(operations))('%s without an API token', (_, { document }) => {
  test('is not executed, whatever is accepted and whether the document is known: errors only', async () => {
    const { secret } = await gateway.issue({ scopes: ['config:validate'] });
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      // The second time the document is known, and takes the fast path.
      for (const token of [null, secret, null]) {
        const reply = await gateway.graphql(document(acme), {}, { token, headers: { accept } });
        if (token !== null) continue;
        expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Token']);
        expect(Object.keys(reply.json)).toEqual(['errors']);
      }
    }
  });

  test('returns no data next to a field that needs none', async () => {
    const { status, json } = await gateway.graphql(document(acme).replace('{', '{ __typename '), {}, { token: null });
    expect(status).toBe(200);
    expect(JSON.stringify(json.data)).not.toMatch(
      new RegExp(`"(?:UserGroup|ApiToken|\\w+Payload|\\w+Connection)"|${tokenPrefixes.userGroup}|${tokenPrefixes.apiToken}`),
    );
  });
});

test('a forbidden field does not affect the permitted ones', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['groups:write'] });
  const { json } = await gateway.graphql('{ caller { name } userGroup(by: { providedId: "acme" }) { id } }', {}, { token });
  expect(json.data).toEqual({ caller: { name: 'test' }, userGroup: null });
  expect(json.errors).toMatchObject([{ path: ['userGroup'], extensions: { code: 'FORBIDDEN' } }]);
});
