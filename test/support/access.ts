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
  /** Whether a caller was let in, or shown something, that should not be. */
  readonly isWrongAdmission: boolean;
}

/** A way to send an operation. */
interface Way {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another path of the same route. */
  readonly path?: string;
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
  if (operation) {
    const request = (group: Target) => ({
      method: 'POST',
      path: '/graphql',
      body: { query: operation.document(group) },
      headers: {},
    });
    return { access: operation as Access, request, outcomeOf: (reply: Reply) => graphqlOutcome(name, reply) };
  }
  const rest = restOperations[name];
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

/** The ways to send a request: as it is, with an Idempotency-Key if it may have one, and with a slash at its end. */
function waysOf({ path, body }: { readonly path: string; readonly body: object | string }): readonly Way[] {
  const takesKey = 'query' in Object(body) ? JSON.stringify(body).startsWith('{"query":"mutation') : path === paths.user;
  return [
    { name: '' },
    ...(takesKey ? [{ name: ' and an Idempotency-Key', headers: { 'idempotency-key': crypto.randomUUID() } }] : []),
    { name: ` at ${path}/`, path: `${path}/` },
  ];
}

/** Sends an operation with a credential in each way. */
export async function tryOperation(target: AccessTarget, name: string, credential: PresentedCredential): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (const way of waysOf(find(name).request(target.acme))) trials.push(await tryWay(target, name, credential, way));
  return trials;
}

/** Checks that an operation that fails changes nothing, and that its response has nothing of the group. */
async function tryWay(
  { gateway, acme, create }: AccessTarget,
  name: string,
  credential: PresentedCredential,
  way: Way,
): Promise<Trial> {
  const { access, request, outcomeOf } = find(name);
  const { apiTokenId } = credential;
  groups += 1;
  const expected = credential.expected(access);
  const group = access.changes && expected === 'success' ? await create(`group ${groups}`) : acme;
  // Every change has an event.
  const countChanges = async () =>
    apiTokenId === undefined ? 0 : gateway.database.prisma.event.count({ where: { actorApiTokenId: apiTokenId } });
  const before = credential.kind === 'accepted' ? await countChanges() : 0;
  const { method, path, body, headers } = request(group);
  const sent = { token: null, body, headers: { ...headers, ...way.headers, ...credential.headers } };
  const reply = await gateway.send(method, way.path ?? path, sent);
  const outcome = outcomeOf(reply);
  const isOwn = outcome === 'success' && !credential.isElsewhere;
  const shown = !isOwn && [group.token, group.id, 'secret name'].some((text) => reply.text.includes(text));
  const changed = outcome !== 'success' && (await countChanges()) !== before;
  const isComplete =
    outcome !== 'UNAUTHENTICATED' ||
    (reply.status === 401 && reply.headers.get('www-authenticate') === 'Token' && reply.json.data === undefined);
  return {
    operation: name,
    credential: `${credential.name}${way.name}`,
    expected,
    outcome: [
      outcome,
      shown && 'with data of the group',
      changed && 'changed something',
      !isComplete && `with status ${reply.status} and other headers or data`,
    ]
      .filter(Boolean)
      .join(', '),
    isWrongAdmission: shown || changed || (outcome !== expected && ['success', 'nothing'].includes(outcome)),
  };
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
    isWrongAdmission: shown || (status[credential.kind] === 401 && reply.status !== 401),
  };
}
