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
  /** What a caller of another environment gets that has the scope `admin`, if it differs from that of its own one. */
  readonly adminElsewhere?: Outcome;
  /** What a permitted caller of no environment gets, if it differs. */
  readonly untagged?: Outcome;
  /** What a permitted caller gets; `success` by default. */
  readonly finds?: Outcome;
  /** Whether each request needs a group of its own, because a successful one changes what the next one finds. */
  readonly changes?: true;
}

/** An operation on one root field. */
export interface GraphQLOperation extends Access {
  readonly document: (target: Target) => string;
}

const result = '{ __typename ... on Error { code message } }';

const read: Scope[] = ['groups:read'];
const write: Scope[] = ['groups:write'];
const audit: Scope[] = ['audit:read'];
const admin = { scopes: ['admin'], elsewhere: 'FORBIDDEN' } as const;

/**
 * For every root field an operation that succeeds with the right scope, by the name of the field and, if relevant, the selector.
 */
export const operations: Record<string, GraphQLOperation> = {
  caller: { document: () => '{ caller { __typename } }', scopes: [], elsewhere: 'success' },
  node: { document: ({ id }) => `{ node(id: "${id}") { __typename } }`, scopes: read, elsewhere: 'nothing' },
  nodes: { document: ({ id }) => `{ nodes(ids: ["${id}"]) { __typename } }`, scopes: read, elsewhere: 'nothing' },
  metrics: {
    document: () => '{ metrics { total { requests } } }',
    scopes: ['metrics:read'],
    elsewhere: 'success',
  },
  instance: {
    document: () => '{ instance { version databaseVersion } }',
    scopes: ['metrics:read'],
    elsewhere: 'success',
  },
  validateDocsConfig: {
    document: () => '{ validateDocsConfig(input: { source: "{}" }) { __typename } }',
    scopes: [],
    elsewhere: 'success',
  },
  'userGroup by providedId': {
    document: () => '{ userGroup(by: { providedId: "acme" }) { __typename } }',
    scopes: read,
    elsewhere: 'nothing',
  },
  'userGroup by teamId': {
    document: ({ teamId }) => `{ userGroup(by: { teamId: ${teamId} }) { __typename } }`,
    scopes: read,
    elsewhere: 'nothing',
  },
  'userGroup by id': {
    document: ({ id }) => `{ userGroup(by: { id: "${id}" }) { __typename } }`,
    scopes: read,
    elsewhere: 'nothing',
  },
  'userGroup by the id of no group': {
    document: () => '{ userGroup(by: { id: "x" }) { __typename } }',
    scopes: read,
    elsewhere: 'nothing',
    finds: 'nothing',
  },
  'userGroup by token': {
    document: ({ token }) => `{ userGroup(by: { token: "${token}" }) { __typename } }`,
    scopes: ['groups:read', 'groups:resolve'],
    elsewhere: 'nothing',
  },
  userGroups: {
    document: () => '{ userGroups(filter: { search: "acme" }) { totalCount nodes { name token } edges { node { id } } } }',
    scopes: read,
    elsewhere: 'nothing',
  },
  'node of an API token': { document: ({ spare }) => `{ node(id: "${apiTokenId(spare.rotated)}") { __typename } }`, ...admin },
  'node of an event': {
    document: ({ event }) => `{ node(id: "${event}") { __typename } }`,
    scopes: audit,
    elsewhere: 'nothing',
  },
  'nodes of an event': {
    document: ({ event }) => `{ nodes(ids: ["${event}"]) { __typename } }`,
    scopes: audit,
    elsewhere: 'nothing',
  },
  events: {
    document: () => '{ events(filter: { userGroup: { providedId: "acme" } }) { nodes { type userGroup { name } } } }',
    scopes: audit,
    elsewhere: 'nothing',
  },
  eventFeed: {
    document: () => '{ eventFeed { nodes { type userGroupId changes } cursor } }',
    scopes: audit,
    elsewhere: 'success',
  },
  apiTokens: { document: () => '{ apiTokens { totalCount nodes { name } } }', ...admin },
  createApiToken: {
    document: () => `mutation { createApiToken(input: { name: "new", scopes: [GROUPS_READ] }) ${result} }`,
    ...admin,
  },
  rotateApiToken: {
    document: ({ spare }) => `mutation { rotateApiToken(input: { id: "${apiTokenId(spare.rotated)}" }) ${result} }`,
    ...admin,
  },
  updateApiToken: {
    document: ({ spare }) => `mutation { updateApiToken(input: { id: "${apiTokenId(spare.rotated)}", name: "new" }) ${result} }`,
    ...admin,
  },
  revokeApiToken: {
    document: ({ spare }) => `mutation { revokeApiToken(input: { id: "${apiTokenId(spare.revoked)}" }) ${result} }`,
    ...admin,
  },
  webhooks: { document: () => '{ webhooks { totalCount nodes { url } } }', ...admin },
  webhookDeliveries: {
    document: ({ webhook }) => `{ webhookDeliveries(webhook: "${webhook}") { nodes { body } pageInfo { hasNextPage } } }`,
    ...admin,
  },
  'node of a webhook': { document: ({ webhook }) => `{ node(id: "${webhook}") { __typename } }`, ...admin },
  createWebhook: {
    document: () => `mutation { createWebhook(input: { url: "https://hooks.invalid/new" }) ${result} }`,
    ...admin,
  },
  updateWebhook: {
    document: ({ webhook }) => `mutation { updateWebhook(input: { id: "${webhook}", description: "new" }) ${result} }`,
    ...admin,
  },
  rotateWebhookSecret: {
    document: ({ webhook }) => `mutation { rotateWebhookSecret(input: { id: "${webhook}" }) ${result} }`,
    ...admin,
  },
  deleteWebhook: {
    document: ({ noWebhook }) => `mutation { deleteWebhook(input: { id: "${noWebhook}" }) ${result} }`,
    ...admin,
    finds: 'NOT_FOUND',
  },
  sendTestEvent: {
    document: ({ webhook }) => `mutation { sendTestEvent(input: { id: "${webhook}" }) ${result} }`,
    ...admin,
  },
  redeliverEvents: {
    document: ({ webhook, event }) =>
      `mutation { redeliverEvents(webhook: "${webhook}", input: { ids: ["${event}"] }) ${result} }`,
    ...admin,
  },
  getOrCreateUserGroup: {
    document: ({ providedId }) => `mutation { getOrCreateUserGroup(input: { providedId: "${providedId}" }) ${result} }`,
    scopes: write,
    elsewhere: 'success',
    untagged: 'CONFLICT',
    changes: true,
  },
  getOrCreateUserGroups: {
    document: ({ providedId }) =>
      `mutation { getOrCreateUserGroups(input: { groups: [{ providedId: "${providedId}" }] }) ${result} }`,
    scopes: write,
    elsewhere: 'success',
    changes: true,
  },
  deleteUserGroup: {
    document: ({ teamId }) => `mutation { deleteUserGroup(input: { by: { teamId: ${teamId} } }) ${result} }`,
    scopes: write,
    elsewhere: 'NOT_FOUND',
    changes: true,
  },
  suspendUserGroup: {
    document: ({ teamId }) => `mutation { suspendUserGroup(input: { by: { teamId: ${teamId} } }) ${result} }`,
    scopes: write,
    elsewhere: 'NOT_FOUND',
    changes: true,
  },
  resumeUserGroup: {
    document: ({ teamId }) => `mutation { resumeUserGroup(input: { by: { teamId: ${teamId} } }) ${result} }`,
    scopes: write,
    elsewhere: 'NOT_FOUND',
    changes: true,
  },
  setUserGroupEnvironment: {
    document: ({ teamId }) =>
      `mutation { setUserGroupEnvironment(input: { by: { teamId: ${teamId} }, environmentTag: CUSTOMER }) ${result} }`,
    ...admin,
    changes: true,
  },
  updateUserGroup: {
    document: ({ teamId }) => `mutation { updateUserGroup(input: { by: { teamId: ${teamId} }, name: "new" }) ${result} }`,
    scopes: write,
    elsewhere: 'NOT_FOUND',
    changes: true,
  },
  createEmbedToken: {
    document: ({ teamId }) => `mutation { createEmbedToken(input: { by: { teamId: ${teamId} } }) ${result} }`,
    scopes: ['embed:sign'],
    elsewhere: 'NOT_FOUND',
  },
  revokeEmbedTokens: {
    document: ({ teamId }) => `mutation { revokeEmbedTokens(input: { by: { teamId: ${teamId} } }) ${result} }`,
    scopes: ['embed:sign'],
    elsewhere: 'NOT_FOUND',
  },
  rotateUserGroupToken: {
    document: ({ token }) => `mutation { rotateUserGroupToken(input: { currentToken: "${token}" }) ${result} }`,
    scopes: write,
    elsewhere: 'NOT_FOUND',
    changes: true,
  },
};

/** An operation of a route other than `/graphql`. */
export interface RestOperation extends Access {
  /** A text is a form. */
  readonly body: (target: Target) => object | string;
}

/** The operations of routes that require a credential, by method and path. */
export const restOperations: Record<string, RestOperation> = {
  'GET /api/user': {
    body: ({ providedId }) => ({ user_group_id: providedId }),
    scopes: write,
    elsewhere: 'success',
    untagged: 'CONFLICT',
    changes: true,
  },
  'QUERY /api/user': {
    body: ({ providedId }) => ({ user_group_id: providedId }),
    scopes: write,
    elsewhere: 'success',
    untagged: 'CONFLICT',
    changes: true,
  },
  'PUT /api/user': {
    body: ({ providedId }) => ({ user_group_id: providedId, name: 'new' }),
    scopes: write,
    elsewhere: 'NOT_FOUND',
    adminElsewhere: 'NOT_FOUND',
    changes: true,
  },
  'DELETE /api/user': {
    body: ({ providedId }) => ({ user_group_id: providedId }),
    scopes: write,
    elsewhere: 'NOT_FOUND',
    adminElsewhere: 'NOT_FOUND',
    changes: true,
  },
  'POST /api/user': {
    body: ({ token }) => ({ current_token: token }),
    scopes: write,
    elsewhere: 'NOT_FOUND',
    changes: true,
  },
  'POST /api/embed-tokens': {
    body: ({ providedId }) => ({ user_group_id: providedId }),
    scopes: ['embed:sign'],
    elsewhere: 'NOT_FOUND',
  },
  'GET /api/events': {
    body: () => '',
    scopes: ['audit:read'],
    elsewhere: 'success',
  },
  'GET /metrics': {
    body: () => '',
    scopes: ['metrics:read'],
    elsewhere: 'success',
  },
  'POST /oauth2/introspect': {
    body: ({ token }) => `token=${token}`,
    scopes: ['groups:read', 'groups:resolve'],
    elsewhere: 'nothing',
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
