import { paths } from '../../src/http/paths.ts';
import { type Access, operations, pages, restOperations, type Target } from './access-matrix.ts';
import { type AccessGateway, issueCredential, type PresentedCredential } from './credentials.ts';
import { webhookId } from './node-id.ts';
import type { Reply } from './request.ts';
import { routes } from './routes.ts';

/** What became of an operation with a credential. */
export interface Trial {
  readonly operation: string;
  readonly credential: string;
  /** What should become of it. */
  readonly expected: string;
  /** `expected`, or what differs from it: another outcome, data in a response that should have none, or a change. */
  readonly outcome: string;
}

/** What operations are tried on: a gateway with the group `acme` in the Testing environment. */
export interface AccessTarget {
  readonly gateway: AccessGateway;
  /** What operations are about that change nothing. */
  readonly acme: Target;
  /** Creates a group with its event, which an operation may change. */
  create(providedId: string): Promise<Target>;
}

/** Creates what operations are about. */
export async function prepareAccess(gateway: AccessGateway): Promise<AccessTarget> {
  const { secret: token } = await issueCredential(gateway, ['groups:write']);
  const spare = {
    rotated: (await issueCredential(gateway)).apiToken.id,
    revoked: (await issueCredential(gateway)).apiToken.id,
  };
  const { secret: admin } = await issueCredential(gateway);
  const createWebhook =
    'mutation { created: createWebhook(input: { url: "https://hooks.invalid/" }) { ... on CreateWebhookPayload { webhook { id } } } }';
  const created = await gateway.send('POST', '/graphql', { token: admin, body: { query: createWebhook } });
  const webhooks = { webhook: created.json.data.created.webhook.id as string, noWebhook: webhookId(2 ** 31 - 1) };
  const create = async (providedId: string): Promise<Target> => {
    const query = `mutation ($id: String!) { getOrCreateUserGroup(input: { providedId: $id, name: "secret name" }) {
      ... on GetOrCreateUserGroupPayload { userGroup { id teamId providedId token } } } }`;
    const { json } = await gateway.send('POST', '/graphql', { token, body: { query, variables: { id: providedId } } });
    const group = json.data.getOrCreateUserGroup.userGroup;
    const { occurredAt, id } = await gateway.database.prisma.event.findFirstOrThrow({ where: { teamId: group.teamId } });
    const event = Buffer.from(`Event:${occurredAt.getTime()}.${id}`).toString('base64');
    return { ...group, event, spare, ...webhooks };
  };
  return { gateway, acme: await create('acme'), create };
}

/** The root field of an operation on `/graphql`, by its name. */
export const fieldOf = (name: string): string => name.split(' ')[0] ?? '';

/** The names of every operation that requires a credential. */
export const operationNames: readonly string[] = [...Object.keys(operations), ...Object.keys(restOperations)];

/** The outcome of a GraphQL operation: of all that it selects of one group or list, nothing may be there if it finds nothing. */
function graphqlOutcome(name: string, { status, json }: Reply): string {
  const data = json?.data?.[fieldOf(name)];
  const code = json?.errors?.[0].extensions.code ?? data?.code;
  if (code) return code;
  const isNothing =
    data === null || [null, '[null]', '{"totalCount":0,"nodes":[],"edges":[]}', '{"nodes":[]}'].includes(JSON.stringify(data));
  if (isNothing) return 'nothing';
  return data === undefined ? `no data, with status ${status}` : 'success';
}

function restOutcome({ status, json }: Reply): string {
  if (status !== 200) return json?.code ?? `status ${status}`;
  return json?.active === false ? 'nothing' : 'success';
}

/** An operation by its name: who may perform it, and how it is sent. */
function find(name: string) {
  const operation = operations[name];
  const rest = restOperations[name];
  if (operation) {
    const request = (group: Target) => ({
      method: 'POST',
      path: '/graphql',
      body: { query: operation.document(group) },
      headers: {},
    });
    return { access: operation as Access, request, outcomeOf: (reply: Reply) => graphqlOutcome(name, reply) };
  }
  if (!rest) throw new Error(`No operation has the name ${name}.`);
  const [method = '', path = ''] = name.split(' ');
  const request = (group: Target) => {
    const body = rest.body(group);
    const headers = typeof body === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
    return { method, path, body, headers };
  };
  return { access: rest as Access, request, outcomeOf: restOutcome };
}

let groups = 0;

/** Sends an operation with a credential in each way: as it is, with an Idempotency-Key if it may have one, and with a slash. */
export async function tryOperation(target: AccessTarget, name: string, credential: PresentedCredential): Promise<Trial[]> {
  const { path, body } = find(name).request(target.acme);
  const takesKey = path === paths.user || JSON.stringify(body).startsWith('{"query":"mutation');
  const trials = [await tryWay(target, name, credential), await tryWay(target, name, credential, ` at ${path}/`, `${path}/`)];
  if (!takesKey) return trials;
  return [...trials, await tryWay(target, name, credential, ' with a key', path, { 'idempotency-key': crypto.randomUUID() })];
}

/** Checks that an operation that fails changes nothing, and that its response has nothing of the group. */
async function tryWay(
  { gateway, acme, create }: AccessTarget,
  name: string,
  credential: PresentedCredential,
  way = '',
  path?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Trial> {
  const { access, request, outcomeOf } = find(name);
  const expected = credential.expected(access);
  groups += 1;
  const group = access.changes && expected === 'success' ? await create(`group ${groups}`) : acme;
  // Every change has an event.
  const { apiTokenId: actorApiTokenId = -1 } = credential;
  const countChanges = () => gateway.database.prisma.event.count({ where: { actorApiTokenId } });
  const before = await countChanges();
  const { method, path: usual, body, headers } = request(group);
  const sent = { token: null, body, headers: { ...headers, ...more, ...credential.headers } };
  const reply = await gateway.send(method, path ?? usual, sent);
  const outcome = outcomeOf(reply);
  const faults: string[] = [];
  const isOwn = outcome === 'success' && !credential.isElsewhere;
  if (!isOwn && [group.token, group.id, 'secret name'].some((text) => reply.text.includes(text)))
    faults.push('data of the group');
  if (outcome !== 'success' && (await countChanges()) !== before) faults.push('a change');
  const isChallenge = reply.status === 401 && reply.headers.get('www-authenticate') === 'Token' && reply.json.data === undefined;
  if (outcome === 'UNAUTHENTICATED' && !isChallenge) faults.push(`status ${reply.status}, other headers or data`);
  return { operation: name, credential: `${credential.name}${way}`, expected, outcome: [outcome, ...faults].join(' with ') };
}

/** A request that no credential is required for. */
export interface OpenRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The status of the response, by the kind of credential that is sent nevertheless. */
  readonly status: Readonly<Record<PresentedCredential['kind'], number>>;
}

const html = { accept: 'text/html' };

/** Every request that no credential is required for: the pages and files, introspection of the schema, and the playground. */
export const openRequests: readonly OpenRequest[] = [
  ...Object.entries(pages).flatMap(([route, path]) =>
    (routes.find((each) => each.path === route)?.methods ?? []).map((method) => {
      return { name: `${method} ${route}`, method, path, status: { absent: 200, invalid: 200, accepted: 200 } };
    }),
  ),
  {
    name: 'introspection',
    method: 'POST',
    path: paths.graphql,
    body: { query: '{ __typename __schema { queryType { name } } }' },
    status: { absent: 200, invalid: 401, accepted: 200 },
  },
  // For requests without a credential.
  { name: 'playground', method: 'GET', path: paths.graphql, headers: html, status: { absent: 200, invalid: 401, accepted: 400 } },
];

/** Sends a request that needs no credential with one. */
export async function tryOpenRequest(
  { gateway, acme }: AccessTarget,
  { name, method, path, body, headers, status }: OpenRequest,
  credential: PresentedCredential,
): Promise<Trial> {
  const reply = await gateway.send(method, path, { token: null, body, headers: { ...headers, ...credential.headers } });
  const shown = [acme.token, acme.id, 'secret name'].some((text) => reply.text.includes(text));
  return {
    operation: name,
    credential: credential.name,
    expected: String(status[credential.kind]),
    outcome: `${reply.status}${shown ? ', with data of the group' : ''}`,
  };
}
