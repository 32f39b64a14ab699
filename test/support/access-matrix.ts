import { readdirSync } from 'node:fs';
import type { Scope } from '../../src/scopes.ts';
import { apiTokenId } from './node-id.ts';

/** What an operation is about. */
export interface Target {
  /** Of a group of the Testing environment. */
  readonly id: string;
  readonly teamId: number;
  readonly providedId: string;
  readonly token: string;
  /** The id of an event about that group. */
  readonly event: string;
  /** The numbers of API tokens that are not in use. */
  readonly spare: { readonly rotated: number; readonly revoked: number };
  /** The id of a webhook, and of one that does not exist. */
  readonly webhook: string;
  readonly noWebhook: string;
}

/** The code of an error, `nothing` for a look-up or a list that finds nothing, or `success`. */
export type Outcome = 'success' | 'nothing' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT';

/** Who may perform an operation, and what becomes of it otherwise. */
export interface Access {
  /** The scopes of which each one is enough by itself, `admin` aside; any credential is, if there are none. */
  readonly scopes: readonly Scope[];
  /** What a caller of another environment gets that has every scope but `admin`. */
  readonly elsewhere: Outcome;
  /** What a permitted caller gets; `success` by default. */
  readonly finds?: Outcome;
  /** Whether each request needs a group of its own, because a successful one changes what the next one finds. */
  readonly changes?: true;
}

/** An operation on one root field. */
export interface GraphQLOperation extends Access {
  readonly document: (target: Target) => string;
}

const anybody: Access = { scopes: [], elsewhere: 'success' };
const read: Access = { scopes: ['groups:read'], elsewhere: 'nothing' };
const write: Access = { scopes: ['groups:write'], elsewhere: 'NOT_FOUND', changes: true };
const create: Access = { ...write, elsewhere: 'success' };
const audit: Access = { scopes: ['audit:read'], elsewhere: 'nothing' };
const monitor: Access = { scopes: ['metrics:read'], elsewhere: 'success' };
const sign: Access = { scopes: ['embed:sign'], elsewhere: 'NOT_FOUND' };
const admin: Access = { scopes: ['admin'], elsewhere: 'FORBIDDEN' };

type Text = (target: Target) => string;

/** A query, by the name of its field and, if relevant, the selector. */
const queries: readonly [name: string, access: Access, text: Text][] = [
  ['caller', anybody, () => 'caller { __typename }'],
  ['validateDocsConfig', anybody, () => 'validateDocsConfig(input: { source: "{}" }) { __typename }'],
  ['metrics', monitor, () => 'metrics { total { requests } }'],
  ['instance', monitor, () => 'instance { version databaseVersion }'],
  ['node', read, ({ id }) => `node(id: "${id}") { __typename }`],
  ['nodes', read, ({ id }) => `nodes(ids: ["${id}"]) { __typename }`],
  ['userGroup by providedId', read, () => 'userGroup(by: { providedId: "acme" }) { __typename }'],
  ['userGroup by teamId', read, ({ teamId }) => `userGroup(by: { teamId: ${teamId} }) { __typename }`],
  ['userGroup by id', read, ({ id }) => `userGroup(by: { id: "${id}" }) { __typename }`],
  ['userGroup by the id of no group', { ...read, finds: 'nothing' }, () => 'userGroup(by: { id: "x" }) { __typename }'],
  [
    'userGroup by token',
    { ...read, scopes: ['groups:read', 'groups:resolve'] },
    ({ token }) => `userGroup(by: { token: "${token}" }) { __typename }`,
  ],
  ['userGroups', read, () => 'userGroups(filter: { search: "acme" }) { totalCount nodes { name token } edges { node { id } } }'],
  ['node of an API token', admin, ({ spare }) => `node(id: "${apiTokenId(spare.rotated)}") { __typename }`],
  ['node of an event', audit, ({ event }) => `node(id: "${event}") { __typename }`],
  ['nodes of an event', audit, ({ event }) => `nodes(ids: ["${event}"]) { __typename }`],
  ['node of a webhook', admin, ({ webhook }) => `node(id: "${webhook}") { __typename }`],
  ['events', audit, () => 'events(filter: { userGroup: { providedId: "acme" } }) { nodes { type userGroup { name } } }'],
  ['eventFeed', { ...audit, elsewhere: 'success' }, () => 'eventFeed { nodes { type userGroupId changes } cursor }'],
  ['apiTokens', admin, () => 'apiTokens { totalCount nodes { name } }'],
  ['webhooks', admin, () => 'webhooks { totalCount nodes { url } }'],
  ['webhookDeliveries', admin, ({ webhook }) => `webhookDeliveries(webhook: "${webhook}") { nodes { body } }`],
];

const byTeamId: Text = ({ teamId }) => `by: { teamId: ${teamId} }`;

/** A mutation, by the name of its field, with its input. */
const mutations: readonly [name: string, access: Access, input: Text][] = [
  ['createApiToken', admin, () => 'name: "new", scopes: [GROUPS_READ]'],
  ['rotateApiToken', admin, ({ spare }) => `id: "${apiTokenId(spare.rotated)}"`],
  ['updateApiToken', admin, ({ spare }) => `id: "${apiTokenId(spare.rotated)}", name: "new"`],
  ['revokeApiToken', admin, ({ spare }) => `id: "${apiTokenId(spare.revoked)}"`],
  ['createWebhook', admin, () => 'url: "https://hooks.invalid/new"'],
  ['updateWebhook', admin, ({ webhook }) => `id: "${webhook}", description: "new"`],
  ['rotateWebhookSecret', admin, ({ webhook }) => `id: "${webhook}"`],
  ['deleteWebhook', { ...admin, finds: 'NOT_FOUND' }, ({ noWebhook }) => `id: "${noWebhook}"`],
  ['sendTestEvent', admin, ({ webhook }) => `id: "${webhook}"`],
  ['getOrCreateUserGroup', create, ({ providedId }) => `providedId: "${providedId}"`],
  ['getOrCreateUserGroups', { ...write, elsewhere: 'success' }, ({ providedId }) => `groups: [{ providedId: "${providedId}" }]`],
  ['deleteUserGroup', write, byTeamId],
  ['suspendUserGroup', write, byTeamId],
  ['resumeUserGroup', write, byTeamId],
  ['updateUserGroup', write, (target) => `${byTeamId(target)}, name: "new"`],
  ['rotateUserGroupToken', write, ({ token }) => `currentToken: "${token}"`],
  ['setUserGroupEnvironment', { ...admin, changes: true }, (target) => `${byTeamId(target)}, environmentTag: CUSTOMER`],
  ['createEmbedToken', sign, byTeamId],
  ['revokeEmbedTokens', sign, byTeamId],
];

const result = '{ __typename ... on Error { code message } }';

/** For every root field an operation that succeeds with the right scope. */
export const operations: Record<string, GraphQLOperation> = Object.fromEntries([
  ...queries.map(([name, access, text]) => [name, { ...access, document: (target: Target) => `{ ${text(target)} }` }]),
  ...mutations.map(([name, access, input]) => {
    const document = (target: Target) => `mutation { ${name}(input: { ${input(target)} }) ${result} }`;
    return [name, { ...access, document }];
  }),
  [
    'redeliverEvents',
    {
      ...admin,
      document: ({ webhook, event }: Target) =>
        `mutation { redeliverEvents(webhook: "${webhook}", input: { ids: ["${event}"] }) ${result} }`,
    },
  ],
]);

/** An operation of a route other than `/graphql`. */
export interface RestOperation extends Access {
  /** A text is a form. */
  readonly body: (target: Target) => object | string;
}

const byId: RestOperation['body'] = ({ providedId }) => ({ user_group_id: providedId });

/** The operations of routes that require a credential, by method and path. */
export const restOperations: Record<string, RestOperation> = {
  'GET /api/user': { ...create, body: byId },
  'QUERY /api/user': { ...create, body: byId },
  'PUT /api/user': { ...write, body: ({ providedId }) => ({ user_group_id: providedId, name: 'new' }) },
  'DELETE /api/user': { ...write, body: byId },
  'POST /api/user': { ...write, body: ({ token }) => ({ current_token: token }) },
  'POST /api/embed-tokens': { ...sign, body: byId },
  'GET /api/events': { ...audit, elsewhere: 'success', body: () => '' },
  'GET /metrics': { ...monitor, body: () => '' },
  'POST /oauth2/introspect': {
    scopes: ['groups:read', 'groups:resolve'],
    elsewhere: 'nothing',
    body: ({ token }) => `token=${token}`,
  },
};

const stylesheet = readdirSync(new URL('../../dist-web/assets', import.meta.url)).find((name) => name.endsWith('.css'));

/** The pages and files, which no credential opens or closes: a path of each, by the path of its route. */
export const pages: Record<string, string> = {
  '/': '/',
  '/.well-known/jwks.json': '/.well-known/jwks.json',
  '/console': '/console',
  '/console/{page}': '/console/groups',
  '/docs/api': '/docs/api',
  '/openapi.json': '/openapi.json',
  '/schema.graphql': '/schema.graphql',
  '/docs/errors': '/docs/errors',
  '/docs/errors/{code}': '/docs/errors/NOT_FOUND',
  '/docs/docs-config': '/docs/docs-config',
  '/docs/docs-config/{code}': '/docs/docs-config/hex-color',
  '/schemas/docs-config.json': '/schemas/docs-config.json',
  '/assets/{name}': `/assets/${stylesheet}`,
  '/favicon.ico': '/favicon.ico',
  '/livez': '/livez',
  '/readyz': '/readyz',
};
