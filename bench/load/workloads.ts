import { writeCursor } from '../../src/database/list.ts';
import { createGroup, drawIdle, firstCreatedAtMs, firstTeamId, type Group } from './groups.ts';

/** The names of the workloads, in the order in which they run: those that write come last. */
export const workloadIds = [
  'gql-token',
  'gql-unseen',
  'gql-list',
  'rest-get',
  'rest-create',
  'rest-rotate',
  'rest-update',
  'rest-update-keyed',
] as const;

/** The name of a workload. */
export type WorkloadId = (typeof workloadIds)[number];

/** A response as it was parsed. */
interface Response {
  readonly user_group?: { readonly team_id?: unknown; readonly token?: unknown };
}

/** The requests of a workload, and the responses that they must get. */
export interface Workload {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Whether each request has an `Idempotency-Key` of its own. */
  readonly isKeyed?: boolean;
  readonly writes?: boolean;
  /** Chooses the group of the next request. */
  draw(groups: readonly Group[]): Group;
  /** The body of the request, in ASCII. */
  body(group: Group): string;
  /** The response, with what only the actual response can say, such as a new token. */
  expected(group: Group, groups: readonly Group[], response?: Response): unknown;
  /** Records what a response says is stored now. */
  settle?(group: Group, body: Buffer): void;
}

/** How many groups a page of `gql-list` has. */
const pageLength = 20;

const fields = 'teamId providedId name token environmentTag';
const tokenDocument = `query ($token: String!) { userGroup(by: {token: $token}) { ${fields} } }`;
const listDocument = `query ($after: String!) { userGroups(first: ${pageLength}, after: $after) { nodes { ${fields} } } }`;

const anyToken = `ugt_${'0'.repeat(36)}`;
const isNewToken = (token: unknown, { token: old }: Group): token is string =>
  typeof token === 'string' && /^ugt_\w{36}$/.test(token) && token !== old;

const stored = ({ index, digits }: Group) => ({
  teamId: firstTeamId + index,
  providedId: `group-${digits}`,
  name: `Group ${digits}`,
});

const graphqlGroup = (group: Group) => ({
  ...stored(group),
  token: group.token,
  environmentTag: group.environment.toUpperCase(),
});

/** The part of a response of the legacy API that all methods share. */
const restGroup = (group: Group, token = group.token) => {
  const { teamId: team_id, providedId: provided_id, name } = stored(group);
  return { team_id, token, name, provided_id };
};

const draw = (groups: readonly Group[]): Group => drawIdle(groups);

/** What look-ups by token over GraphQL have in common. */
const byToken = {
  method: 'POST',
  path: '/graphql',
  draw,
  expected: (group: Group) => ({ data: { userGroup: graphqlGroup(group) } }),
} as const;

let lastRevision = 0;

const update: Workload = {
  method: 'PUT',
  path: '/api/user',
  writes: true,
  draw,
  body(group) {
    lastRevision += 1;
    group.sentRevision = lastRevision;
    return `{"user_group_id":"group-${group.digits}","name":"Name ${lastRevision}","properties":{"country":"BE","revision":${lastRevision}}}`;
  },
  expected: (group) => ({
    success: 1,
    user_group: {
      ...restGroup(group),
      name: `Name ${group.sentRevision}`,
      properties: { country: 'BE', revision: group.sentRevision },
      api_environment_tag: group.environment,
    },
  }),
  settle(group) {
    group.revision = group.sentRevision;
  },
};

let created = 0;

/** Every workload, by its name. */
export const workloads: Readonly<Record<WorkloadId, Workload>> = {
  // What an embed backend sends for every dashboard view.
  'gql-token': {
    ...byToken,
    body: ({ token }) => `{"query":"${tokenDocument}","variables":{"token":"${token}"}}`,
  },
  // Each request has another document, as of clients that write values into their documents.
  'gql-unseen': {
    ...byToken,
    body: ({ token }) => `{"query":"{ userGroup(by: {token: \\"${token}\\"}) { ${fields} } }"}`,
  },
  // The page after a group at random, so that hardly two requests ask for the same one. Groups alternate between environments.
  'gql-list': {
    method: 'POST',
    path: '/graphql',
    draw: (groups) => drawIdle(groups, 2 * pageLength),
    body({ index }) {
      const cursor = writeCursor('UserGroup.createdAt', [new Date(firstCreatedAtMs + index), firstTeamId + index]);
      return `{"query":"${listDocument}","variables":{"after":"${cursor}"}}`;
    },
    expected({ index }, groups) {
      const nodes = Array.from({ length: pageLength }, (_, place) => graphqlGroup(groups[index - 2 * (place + 1)] as Group));
      return { data: { userGroups: { nodes } } };
    },
  },
  'rest-get': {
    method: 'GET',
    path: '/api/user',
    draw,
    body: ({ digits }) => `{"name":"Any name","user_group_id":"group-${digits}"}`,
    expected: (group) => ({
      success: 1,
      new_user_group: false,
      user_group: { ...restGroup(group), properties: { country: 'BE', seats: 10 + (group.index % 90) } },
    }),
  },
  'rest-create': {
    method: 'GET',
    path: '/api/user',
    writes: true,
    draw: () => createGroup(created++, anyToken),
    body: ({ digits }) => `{"user_group_id":"fresh-${digits}","name":"Fresh ${digits}"}`,
    expected(group, _, { user_group: { team_id, token } = {} } = {}) {
      const known = { team_id: Number.isInteger(team_id) ? team_id : 0, token: isNewToken(token, group) ? token : anyToken };
      const { digits } = group;
      const user_group = { ...known, name: `Fresh ${digits}`, provided_id: `fresh-${digits}`, properties: null };
      return { success: 1, new_user_group: true, user_group };
    },
  },
  'rest-rotate': {
    method: 'POST',
    path: '/api/user',
    writes: true,
    draw,
    body: ({ token }) => `{"current_token":"${token}"}`,
    expected(group, _, { user_group: { token } = {} } = {}) {
      const user_group = restGroup(group, isNewToken(token, group) ? token : anyToken);
      return { success: 1, user_group: { ...user_group, api_environment_tag: group.environment } };
    },
    settle(group, body) {
      const at = body.indexOf('"token":"') + 9;
      group.token = body.toString('latin1', at, at + anyToken.length);
    },
  },
  'rest-update': update,
  'rest-update-keyed': { ...update, isKeyed: true },
};
