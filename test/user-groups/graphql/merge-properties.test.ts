import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

/** Two gateways on one database. */
let gateways: readonly [TestGateway, TestGateway];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  gateways = [gateway, await startGateway(gateway.database)];
});
afterAll(async () => {
  await gateways[1].close();
  await gateway.close();
});

const create = (providedId: string, properties: object | null = null) =>
  mutate(gateway, 'getOrCreateUserGroup', { providedId, properties });
const merge = (providedId: string, mergeProperties: unknown, others: object = {}) =>
  mutate(gateway, 'updateUserGroup', { by: { providedId }, mergeProperties, ...others });
const stored = async (providedId: string) => (await create(providedId)).userGroup.properties;

test.each<[string, object | null, object, object]>([
  ['replaces and adds members', { a: 1, b: 2 }, { b: 3, c: 4 }, { a: 1, b: 3, c: 4 }],
  ['removes members that are null', { a: 1, b: 2 }, { a: null, x: null }, { b: 2 }],
  ['merges nested objects and replaces lists', { o: { a: 1, b: [1] } }, { o: { b: [2], c: {} } }, { o: { a: 1, b: [2], c: {} } }],
  ['begins with an object where there are no properties', null, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ['changes nothing when it is empty', { a: 1 }, {}, { a: 1 }],
])('a patch %s', async (title, before, patch, after) => {
  await create(title, before);
  expect((await merge(title, patch)).userGroup.properties).toEqual(after);
  expect(await stored(title)).toEqual(after);
});

test('a patch and other fields are changed together, and numbers stay exact', async () => {
  const numbers = { big: Number.MAX_SAFE_INTEGER, small: 1e-300, fraction: 0.1 };
  await create('together', numbers);
  const others = { name: 'renamed', mapping: [{ schemaId: 's', dataSource: 'd' }] };
  const patch = { constructor: { prototype: 1 }, toJSON: 'x', "'; drop table user_group; --": { $type: 'FieldRef' } };
  expect((await merge('together', patch, others)).userGroup).toMatchObject({ ...others, properties: { ...numbers, ...patch } });
});

describe('INVALID_INPUT, and nothing changes', () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { n: nested(depth - 1) });
  test.each<[string, unknown, string, object?]>([
    ['a patch together with properties', { a: 1 }, 'mergeProperties', { properties: { b: 1 } }],
    ['a patch that is null', null, 'mergeProperties'],
    ['a patch that is a list', [], 'mergeProperties'],
    ['NUL in a patch', { a: ['\0'] }, 'mergeProperties.a.0'],
    ['a lone surrogate in the name of a member to remove', { '\ud800': null }, 'mergeProperties.\ud800'],
    ['a patch that is too deep', nested(33), `mergeProperties${'.n'.repeat(32)}`],
    ['a patch that is too large', { a: 'x'.repeat(65_536) }, 'mergeProperties'],
    ['properties that are too large after the merge', { more: 'x'.repeat(40_000) }, 'mergeProperties'],
  ])('%s', async (title, patch, path, others = {}) => {
    const properties = { text: 'x'.repeat(40_000) };
    await create(title, properties);
    const result = await merge(title, patch, { name: 'renamed', ...others });
    expect(result).toMatchObject({ __typename: 'InvalidInput', code: 'INVALID_INPUT' });
    expect(result.issues.map((issue: { path: string[] }) => issue.path.join('.'))).toEqual([path]);
    const { userGroup } = await create(title);
    expect([userGroup.name, userGroup.properties]).toEqual([title, properties]);
  });
});

test('the limit holds for the result: a member of the whole size can be replaced by another', async () => {
  await create('full', { text: 'x'.repeat(65_000) });
  expect((await merge('full', { text: 'y'.repeat(65_000) })).userGroup.properties.text).toBe('y'.repeat(65_000));
});

test('30 concurrent patches of different members through two gateways all survive', async () => {
  await create('many', { start: true });
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, index) => {
      const input = { by: { providedId: 'many' }, mergeProperties: { [`key ${index}`]: index } };
      return mutate(gateways[index % 2] as TestGateway, 'updateUserGroup', input, gateway.token);
    }),
  );
  const expected = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key ${index}`, index]));
  expect(await stored('many')).toEqual({ start: true, ...expected });
  // Each returns the group as it left it: no two alike, and the largest has everything.
  const sizes = results.map(({ userGroup }) => Object.keys(userGroup.properties).length);
  expect(sizes.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 2));
});
