import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import {
  type AccessTarget,
  fieldOf,
  openRequests,
  operationNames,
  prepareAccess,
  type Trial,
  tryOpenRequest,
  tryOperation,
} from '../support/access.ts';
import { operations, pages, restOperations } from '../support/access-matrix.ts';
import { issueCredentials, type PresentedCredential } from '../support/credentials.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { routes } from '../support/routes.ts';

let gateway: TestGateway;
let target: AccessTarget;
let credentials: PresentedCredential[];

beforeAll(async () => {
  gateway = await startGateway();
  target = await prepareAccess(gateway);
  credentials = await issueCredentials(gateway, target.acme.token);
});
afterAll(() => gateway.close());

/** What became of requests, and what should have, by the name of the credential. */
async function outcomesOf(send: (credential: PresentedCredential) => Promise<Trial[]>, presented = credentials) {
  const trials = (await Promise.all(presented.map(send))).flat();
  return {
    actual: Object.fromEntries(trials.map(({ credential, outcome }) => [credential, outcome])),
    expected: Object.fromEntries(trials.map(({ credential, expected }) => [credential, expected])),
  };
}

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

/** The first credential of each kind. */
const oneOfEachKind = () =>
  credentials.filter(({ kind }, index) => credentials.findIndex((each) => each.kind === kind) === index);

/** Which credentials are rejected does not depend on the operation: one of them suffices, but for `caller`. */
const credentialsFor = (name: string) =>
  name === 'caller' ? credentials : credentials.filter((each) => each.kind === 'accepted' || oneOfEachKind().includes(each));

test.each(operationNames)('%s by each credential', async (name) => {
  const { actual, expected } = await outcomesOf((credential) => tryOperation(target, name, credential), credentialsFor(name));
  expect(actual).toEqual(expected);
});

// The playground is for requests without a credential; pages ignore it.
test.each(openRequests.map((request) => [request.name, request] as const))('%s by each credential', async (_, request) => {
  const { actual, expected } = await outcomesOf(
    async (credential) => [await tryOpenRequest(target, request, credential)],
    request.status.invalid === request.status.absent ? oneOfEachKind() : credentials,
  );
  expect(actual).toEqual(expected);
});

test('without an API token a field returns no data, also beside one that needs none', async () => {
  const { status, json } = await gateway.graphql(
    '{ __typename userGroup(by: { providedId: "acme" }) { id } }',
    {},
    { token: null },
  );
  expect([status, json.data]).toEqual([401, undefined]);
});

test('a forbidden field does not affect the permitted ones', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['groups:write'] });
  const { json } = await gateway.graphql('{ caller { name } userGroup(by: { providedId: "acme" }) { id } }', {}, { token });
  expect(json.data).toEqual({ caller: { name: 'test' }, userGroup: null });
  expect(json.errors).toMatchObject([{ path: ['userGroup'], extensions: { code: 'FORBIDDEN' } }]);
});
