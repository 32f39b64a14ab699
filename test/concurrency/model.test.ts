import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  type Answer,
  type Asker,
  type Fields,
  initialState,
  next,
  type Operation,
  type Patch,
  type State,
  type Tag,
} from '../support/model.ts';

let gateways: TestGateway[];
const secrets: string[] = [];

const askers: Asker[] = [
  { tag: 'CUSTOMER', admin: false },
  { tag: 'TESTING', admin: false },
  { tag: null, admin: false },
  { tag: null, admin: true },
];
const environments = { CUSTOMER: 'Customer', TESTING: 'Testing' } as const;

beforeAll(async () => {
  const first = await startGateway();
  gateways = [first, await startGateway(first.database)];
  for (const { tag, admin } of askers) {
    const environment = tag && environments[tag];
    const { secret } = await first.issue({ environment, scopes: admin ? ['admin'] : ['groups:read', 'groups:write'] });
    secrets.push(secret);
  }
});
afterAll(async () => {
  for (const gateway of gateways.reverse()) await gateway.close();
});

/** An operation before it is known which tokens and numbers there are: those are meant by their place among all. */
interface Draft {
  readonly kind: Operation['kind'];
  readonly asker: number;
  readonly gateway: number;
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
const draft: fc.Arbitrary<Draft> = fc.record({
  kind: fc.constantFrom(
    ...(['getOrCreate', 'getOrCreate', 'getOrCreate', 'update', 'patch', 'patch', 'rotate', 'rotate'] as const),
    ...(['delete', 'setEnvironment', 'setEnvironment', 'find'] as const),
  ),
  asker: fc.constantFrom(0, 1, 2, 3, 3),
  gateway: fc.nat({ max: 1 }),
  id: fc.nat({ max: 1 }),
  token: fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 5),
  graceSeconds: fc.constantFrom(0, 3600),
  endGracePeriods: fc.boolean(),
  environmentTag: fc.constantFrom(undefined, undefined, undefined, null, 'CUSTOMER', 'TESTING'),
  by: fc.constantFrom('providedId', 'token', 'teamId'),
  fields,
  patch: fc.constantFrom<Patch>({}, { plan: 'silver' }, { plan: null, seats: 5 }, { trial: 'x' }),
});

/** The steps of a run, each of one operation or of two at the same moment. */
const steps = fc.array(fc.oneof(fc.tuple(draft), fc.tuple(draft, draft)), { minLength: 5, maxLength: 22 });

/** What the parts of a draft are that a step does not need. */
const plain: Omit<Draft, 'kind'> = {
  ...{ gateway: 0, asker: askers.findIndex(({ admin }) => admin), id: 0, token: 0, graceSeconds: 0, endGracePeriods: false },
  ...{ by: 'token', fields: {}, patch: {} },
};

/** The last steps of every run: who is found by each of the newest tokens, former ones included. */
const probes: readonly [Draft][] = Array.from({ length: 8 }, (_, token) => [
  { ...plain, kind: 'find', token, gateway: token % 2 },
]);

/** Steps that chance brings about too rarely: groups that share an id, and a change that would make them share an environment. */
const rareSteps: [Draft][] = [
  [{ ...plain, kind: 'getOrCreate', environmentTag: 'CUSTOMER' }],
  [{ ...plain, kind: 'getOrCreate', environmentTag: 'TESTING' }],
  [{ ...plain, kind: 'setEnvironment', environmentTag: 'TESTING' }],
  [{ ...plain, kind: 'setEnvironment', environmentTag: null }],
  [{ ...plain, kind: 'delete', asker: 1 }],
  [{ ...plain, kind: 'setEnvironment', environmentTag: 'TESTING', gateway: 1 }],
];

let runs = 0;

test('every answer, from either gateway and to any caller, agrees with the rules', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const run = `run ${runs++}`;
      // More than one where two orders explain the same answers: two updates of everything, say. What follows tells them apart.
      let states: readonly [State, ...State[]] = [initialState];
      for (const step of [...sequence, ...probes]) {
        const operations = step.map((each) => ({ ...each, operation: concrete(each, states[0], run) }));
        const answers = await Promise.all(operations.map((each) => ask(each.gateway, each.asker, each.operation)));
        const done = operations.map(({ asker, operation }, index) => ({ asker, operation, answer: answers[index] ?? {} }));
        for (const { operation, answer } of done) seen.add(`${operation.kind} ${outcome(answer)}`);
        // What happened at the same moment must be explained by one order or the other.
        const [first, ...others] = distinct(
          states.flatMap((state) => [explain(state, done), explain(state, [...done].reverse())]),
        );
        expect(first, `no order explains ${JSON.stringify(done)} after ${JSON.stringify(states)}`).toBeDefined();
        if (first) states = [first, ...others];
      }
    }),
    { numRuns: 80, examples: [[rareSteps]], interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false },
  );
  // That the runs came by everything that can happen, so that agreement means something.
  const kinds = [
    'getOrCreate created',
    'getOrCreate found',
    'getOrCreate CONFLICT',
    'getOrCreate FORBIDDEN',
    'update found',
    'update NOT_FOUND',
    'patch found',
    'patch NOT_FOUND',
    'delete deleted',
    'delete NOT_FOUND',
    'setEnvironment found',
    'setEnvironment CONFLICT',
    'setEnvironment FORBIDDEN',
    'setEnvironment NOT_FOUND',
  ];
  expect([...seen]).toEqual(expect.arrayContaining([...kinds, 'rotate found', 'rotate NOT_FOUND', 'find found', 'find nothing']));
}, 40_000);

test('the model itself refuses answers that break a rule', () => {
  const asker: Asker = { tag: 'TESTING', admin: false };
  const operation: Operation = { kind: 'getOrCreate', id: 'a', fields: {} };
  const group = {
    teamId: 1,
    providedId: 'a',
    environmentTag: 'TESTING',
    token: 't',
    name: 'a',
    properties: null,
    mapping: [],
  } as const;
  const created = { group: { ...group, mapping: [] }, created: true };
  const state = next(initialState, asker, operation, created);
  if (!state) throw new Error('The first creation is allowed.');
  expect(next(state, asker, operation, created)).toBeUndefined();
  expect(next(state, { ...asker, tag: 'CUSTOMER' }, operation, { code: 'CONFLICT' })).toBeUndefined();
  expect(
    next(state, { ...asker, tag: 'CUSTOMER' }, { kind: 'find', by: { token: 't' } }, { group: created.group }),
  ).toBeUndefined();
});

type Done = { asker: number; operation: Operation; answer: Answer }[];

function explain(state: State, done: Done): State | undefined {
  let after: State | undefined = state;
  for (const { asker, operation, answer } of done) after = after && next(after, askers[asker] as Asker, operation, answer);
  return after;
}

/** The states that are there, each once; the order in which groups and tokens came to be is none of their difference. */
function distinct(states: readonly (State | undefined)[]): State[] {
  const unordered = ({ groups, retired, tokens }: State) => [new Set(groups), retired, new Set(tokens)];
  const found: State[] = [];
  for (const state of states) {
    if (state && !found.some((other) => isDeepStrictEqual(unordered(other), unordered(state)))) found.push(state);
  }
  return found;
}

function concrete(draft: Draft, { tokens, groups }: State, run: string): Operation {
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

function outcome({ group, created, code, deletedId }: Answer): string {
  return code ?? (deletedId ? 'deleted' : created ? 'created' : group ? 'found' : 'nothing');
}

const groupFields = '{ teamId providedId environmentTag token name properties mapping { schemaId dataSource } }';
const mutation = (name: string, type: string, more = '') => `mutation ($input: ${type}Input!) {
  result: ${name}(input: $input) { ... on ${type}Payload { group: userGroup ${groupFields} ${more} } ... on Error { code } }
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

async function ask(gateway: number, asker: number, operation: Operation): Promise<Answer> {
  const reply = await gateways[gateway]?.graphql(documents[operation.kind], variables(operation), {
    token: secrets[asker] ?? '',
  });
  const { data, errors } = reply?.json ?? {};
  if (errors) return { code: errors[0].extensions.code };
  return operation.kind === 'find' ? { group: data.group } : data.result;
}

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
