import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { initialState, next, type Operation, type Requester } from '../support/model.ts';
import { Coverage, type Gateways, issueHeaders, runHistory, stepOf, stepsOn } from '../support/model-history.ts';

let started: TestGateway[];
let gateways: Gateways;

beforeAll(async () => {
  const first = await startGateway();
  started = [first, await startGateway(first.database)];
  const headersOf = await issueHeaders(first.database);
  gateways = {
    count: started.length,
    send: async (gateway, request) =>
      started[gateway]?.graphql(request.query, request.variables, { token: null, headers: headersOf(request) }),
  };
});
afterAll(async () => {
  for (const gateway of started.reverse()) await gateway.close();
});

/**
 * Steps that random generation produces too rarely: groups that share an id, and a change that would make them share an
 * environment.
 */
const rareSteps = [
  stepOf({ kind: 'getOrCreate', environmentTag: 'CUSTOMER' }),
  stepOf({ kind: 'getOrCreate', environmentTag: 'TESTING' }),
  stepOf({ kind: 'setEnvironment', environmentTag: 'TESTING' }),
  stepOf({ kind: 'setEnvironment', environmentTag: null }),
  stepOf({ kind: 'delete', caller: 1 }),
  stepOf({ kind: 'setEnvironment', environmentTag: 'TESTING' }, 1),
];

test('every response of either gateway to any caller conforms to the model', async () => {
  const coverage = new Coverage();
  await fc.assert(
    fc.asyncProperty(stepsOn(gateways.count, false), (sequence) => runHistory(gateways, sequence, coverage)),
    { numRuns: 16, examples: [[rareSteps]] },
  );
  // The runs must cover every outcome; otherwise the comparison proves little.
  const kinds = [
    'getOrCreate created',
    'getOrCreate found',
    'getOrCreate CONFLICT',
    'getOrCreate FORBIDDEN',
    'bulk getOrCreate created',
    'bulk getOrCreate found',
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
    'rotate found',
    'rotate NOT_FOUND',
    'find found',
    'find nothing',
  ];
  expect([...coverage.seen]).toEqual(expect.arrayContaining(kinds));
  expect(coverage.replayed).toBeGreaterThan(0);
}, 120_000);

test('the model rejects responses that break a rule', () => {
  const caller: Requester = { tag: 'TESTING', admin: false };
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
  const state = next(initialState, caller, operation, created);
  if (!state) throw new Error('The first creation is allowed.');
  expect(next(state, caller, operation, created)).toBeUndefined();
  expect(next(state, { ...caller, tag: 'CUSTOMER' }, operation, { code: 'CONFLICT' })).toBeUndefined();
  expect(
    next(state, { ...caller, tag: 'CUSTOMER' }, { kind: 'find', by: { token: 't' } }, { group: created.group }),
  ).toBeUndefined();
});
