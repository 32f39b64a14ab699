import fc from 'fast-check';
import type { Fields, Operation, Patch, Requester, Result, State, Tag } from './model.ts';
import type { Reply } from './request.ts';

/** The callers of every history. */
export const callers: readonly Requester[] = [
  { tag: 'CUSTOMER', admin: false },
  { tag: 'TESTING', admin: false },
  { tag: null, admin: false },
  { tag: null, admin: true },
];

/** A generated operation. It refers to tokens and groups by their index, because their values are not known yet. */
export interface Draft {
  readonly kind: Operation['kind'];
  readonly caller: number;
  readonly id: number;
  readonly token: number;
  readonly graceSeconds: number;
  readonly endGracePeriods: boolean;
  readonly environmentTag?: Tag | undefined;
  readonly by: 'providedId' | 'token' | 'teamId';
  readonly fields: Fields;
  readonly patch: Patch;
}

const fields = fc.record(
  {
    name: fc.constantFrom('A', 'B'),
    properties: fc.constantFrom(null, {}, { plan: 'gold', limits: [1, 2.5] }),
    mapping: fc.constantFrom([], [{ schemaId: 's', dataSource: 'd' }]),
  },
  { requiredKeys: [] },
);
/** Generates operations. */
export const draft: fc.Arbitrary<Draft> = fc.record({
  kind: fc.constantFrom(
    ...(['getOrCreate', 'getOrCreate', 'getOrCreate', 'update', 'patch', 'patch', 'rotate', 'rotate'] as const),
    ...(['delete', 'setEnvironment', 'setEnvironment', 'find'] as const),
  ),
  caller: fc.constantFrom(0, 1, 2, 3, 3),
  id: fc.nat({ max: 1 }),
  token: fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 5),
  graceSeconds: fc.constantFrom(0, 3600),
  endGracePeriods: fc.boolean(),
  environmentTag: fc.constantFrom(undefined, undefined, undefined, null, 'CUSTOMER', 'TESTING'),
  by: fc.constantFrom('providedId', 'token', 'teamId'),
  fields,
  patch: fc.constantFrom<Patch>({}, { plan: 'silver' }, { plan: null, seats: 5 }, { trial: 'x' }),
});

/** A draft of an admin with the defaults of the parts that it does not name. */
export const draftOf = (given: Pick<Draft, 'kind'> & Partial<Draft>): Draft => ({
  caller: callers.findIndex(({ admin }) => admin),
  id: 0,
  token: 0,
  graceSeconds: 0,
  endGracePeriods: false,
  by: 'token',
  fields: {},
  patch: {},
  ...given,
});

/** The operation that a draft stands for in a state; `run` begins the provided ids. */
export function concrete(draft: Draft, { tokens, groups }: State, run: string): Operation {
  const { kind, id, token, graceSeconds, endGracePeriods, environmentTag, by, fields, patch } = draft;
  const providedId = `${run} ${id}`;
  const anyToken = tokens[tokens.length - 1 - token] ?? 'a token of no group';
  if (kind === 'rotate') return { kind, token: anyToken, graceSeconds, endGracePeriods };
  if (kind === 'getOrCreate') return { kind, id: providedId, fields, ...(environmentTag !== undefined && { environmentTag }) };
  if (kind === 'update') return { kind, id: providedId, fields };
  if (kind === 'patch') return { kind, id: providedId, patch };
  if (kind === 'delete') return { kind, id: providedId };
  const teamId = groups[token]?.teamId ?? 2_000_000_000;
  if (kind === 'setEnvironment') return { kind, teamId, environmentTag: environmentTag ?? null };
  if (by === 'token') return { kind, by: { token: anyToken } };
  return { kind, by: by === 'teamId' ? { teamId } : { providedId } };
}

/** The kind of a result, for what a run has covered. */
export function outcome({ group, created, code, deletedId }: Result): string {
  return code ?? (deletedId ? 'deleted' : created ? 'created' : group ? 'found' : 'nothing');
}

/** What is selected of a group. */
export const groupFields = '{ teamId providedId environmentTag token name properties mapping { schemaId dataSource } }';
const mutation = (name: string, type: string, more = '') => `mutation ($input: ${type}Input!) {
  result: ${name}(input: $input) { ... on ${type}Payload { group: userGroup ${groupFields} ${more} } ... on Error { code } }
}`;
/** With a variable for each group, so that the document says how many there are. */
const bulkDocument = (
  names: readonly string[],
) => `mutation (${names.map((name) => `$${name}: GetOrCreateUserGroupInput!`).join()}) {
  result: getOrCreateUserGroups(input: { groups: [${names.map((name) => `$${name}`).join()}] }) {
    ... on GetOrCreateUserGroupsPayload {
      results { ... on GetOrCreateUserGroupPayload { group: userGroup ${groupFields} created } ... on Error { code } }
    }
    ... on Error { code }
  }
}`;
const documents = {
  getOrCreate: mutation('getOrCreateUserGroup', 'GetOrCreateUserGroup', 'created'),
  update: mutation('updateUserGroup', 'UpdateUserGroup'),
  patch: mutation('updateUserGroup', 'UpdateUserGroup'),
  setEnvironment: mutation('setUserGroupEnvironment', 'SetUserGroupEnvironment'),
  delete: `mutation ($input: DeleteUserGroupInput!) {
    result: deleteUserGroup(input: $input) { ... on DeleteUserGroupPayload { deletedId } ... on Error { code } }
  }`,
  rotate: mutation('rotateUserGroupToken', 'RotateUserGroupToken'),
  find: `query ($by: UserGroupBy!) { group: userGroup(by: $by) ${groupFields} }`,
};

function variables(operation: Operation): Record<string, unknown> {
  switch (operation.kind) {
    case 'getOrCreate': {
      const { kind: _, id: providedId, fields, ...environment } = operation;
      return { input: { providedId, ...fields, ...environment } };
    }
    case 'update':
      return { input: { by: { providedId: operation.id }, ...operation.fields } };
    case 'patch':
      return { input: { by: { providedId: operation.id }, mergeProperties: operation.patch } };
    case 'delete':
      return { input: { by: { providedId: operation.id } } };
    case 'setEnvironment':
      return { input: { by: { teamId: operation.teamId }, environmentTag: operation.environmentTag } };
    case 'rotate': {
      const { kind: _, token: currentToken, ...options } = operation;
      return { input: { currentToken, ...options } };
    }
    case 'find':
      return { by: operation.by };
  }
}

/** The GraphQL request for one operation, or for several creations. */
export function requestOf(operations: readonly Operation[]): { query: string; variables: Record<string, unknown> } {
  const [first, ...others] = operations as readonly [Operation, ...Operation[]];
  if (others.length === 0) return { query: documents[first.kind], variables: variables(first) };
  const groups = operations.map((each, index) => [`group${index}`, variables(each)['input']] as const);
  return { query: bulkDocument(groups.map(([name]) => name)), variables: Object.fromEntries(groups) };
}

/** The result of each operation of a request. @throws Error when the response is none to it. */
export function resultsOf(operations: readonly Operation[], { json, text }: Reply): Result[] {
  const { data, errors } = json ?? {};
  if (errors) return operations.map(() => ({ code: errors[0].extensions.code }));
  const results = data?.result?.results ?? [data?.result ?? data];
  if (!data || results.length !== operations.length)
    throw new Error(`Not a response to ${operations.length} operations: ${text}`);
  return results;
}
