import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, contextOf } from '../../src/app.ts';
import { Caller } from '../../src/caller.ts';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { GatewayError } from '../../src/errors.ts';
import type { Json } from '../../src/input.ts';
import { deleteUserGroup, rotateUserGroupToken, setUserGroupEnvironment, updateUserGroup } from '../../src/user-groups/change.ts';
import { getOrCreateUserGroup, getOrCreateUserGroups } from '../../src/user-groups/create.ts';
import { currentTokenOf } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { appOn } from '../support/queries.ts';
import { replay, storedGroups } from '../support/replay.ts';

let database: TestDatabase;
/** Acts as a second process for the database. */
let second: Database;
let apps: App[];
const tokens: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  second = connectDatabase({ connectionString: database.url });
  apps = [appOn(database), appOn(second)];
});
afterAll(async () => {
  await second.close();
  await database.close();
});

const environments = ['Customer', 'Testing', null] as const;
const tag = fc.constantFrom(...environments);
const properties = fc.constantFrom<Json>(
  null,
  {},
  { a: 1 },
  { a: 1, b: [1, { c: null }] },
  { b: [1, { c: null }], a: 1 },
  { a: null },
  { 'ä"\\': '}{', b: 1e308 },
);
const fields = fc.record(
  {
    name: fc.constantFrom('A', 'B', 'with "quotes" \\ and ä'),
    properties,
    mapping: fc.constantFrom(
      [],
      [{ schemaId: 's', dataSource: 'd' }],
      [
        { schemaId: 't', dataSource: 'e' },
        { schemaId: 's', dataSource: 'f' },
      ],
    ),
  },
  { requiredKeys: [] },
);
const operation = fc.record({
  kind: fc.constantFrom(
    ...(['create', 'create', 'bulk', 'update', 'update', 'update', 'patch', 'patch', 'rotate', 'move', 'delete'] as const),
  ),
  process: fc.nat({ max: 1 }),
  id: fc.nat({ max: 2 }),
  tag,
  fields,
  patch: fc.constantFrom<Json>({ a: 2 }, { a: null }, { b: { c: 1 } }, {}),
});
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

/** Steps of concurrent operations. */
const history = fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 });

let requests = 0;

/** Makes a change under a request id of its own. @returns the types of the events that it must have recorded, or may have. */
async function make(run: string, { kind, process, id, tag, fields, patch }: Operation) {
  requests += 1;
  const requestId = `request-${requests}`;
  const caller = callerWith(
    {
      id: 7,
      name: 'history',
      environmentTag: tag,
      scopes: ['admin'],
    },
    requestId,
  );
  const context = contextOf(apps[process] as App, caller);
  const providedId = `${run} ${id}`;
  const by = { providedId };
  const work = async (): Promise<string[]> => {
    switch (kind) {
      case 'create': {
        const { userGroup, created } = await getOrCreateUserGroup(context, { providedId, ...fields });
        tokens.push(currentTokenOf(context, userGroup));
        return created ? ['user_group.created'] : [];
      }
      case 'bulk': {
        const inputs = [0, 1, 2, id].map((each) => ({ providedId: `${run} ${each}`, ...fields }));
        const results = await getOrCreateUserGroups(context, inputs, false);
        return results.flatMap((result) => (!(result instanceof GatewayError) && result.created ? ['user_group.created'] : []));
      }
      case 'update':
      case 'patch':
        await updateUserGroup(context, by, kind === 'update' ? fields : { name: fields.name, mergeProperties: patch });
        return ['user_group.updated?'];
      case 'rotate': {
        const { userGroup } = await getOrCreateUserGroup(
          { ...context, caller: new Caller(caller.apiToken, `${requestId} found`) },
          { providedId },
        );
        const currentToken = currentTokenOf(context, userGroup);
        const rotated = await rotateUserGroupToken(context, { currentToken, graceSeconds: id });
        tokens.push(currentToken, currentTokenOf(context, rotated.userGroup));
        return ['user_group.token_rotated'];
      }
      case 'move':
        await setUserGroupEnvironment(context, by, environments[(environments.indexOf(tag) + id) % 3]);
        return ['user_group.environment_changed?'];
      case 'delete':
        await deleteUserGroup(context, by);
        return ['user_group.deleted'];
    }
  };
  const types = await work().catch((error: unknown) => {
    if (error instanceof GatewayError && error.code !== 'INTERNAL') return [];
    throw error;
  });
  return { requestId, types };
}

test('after a random history, the events reproduce the stored state, and each change has exactly one event', async () => {
  const seen = new Set<string>();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      await database.pool.query('truncate event, user_group cascade');
      run += 1;
      const made: Awaited<ReturnType<typeof make>>[] = [];
      for (const step of steps) made.push(...(await Promise.all(step.map((each) => make(`run ${run}`, each)))));

      const events = await database.prisma.event.findMany();
      for (const { requestId, types } of made) {
        const recorded = events.filter((event) => event.requestId === requestId).map(({ type }) => type);
        const expected = types.filter((type) => !type.endsWith('?') || recorded.length > 0).map((type) => type.replace('?', ''));
        expect(recorded, requestId).toEqual(expected);
      }
      for (const { type, actorKind, actorName, actorApiTokenId } of events) {
        seen.add(type);
        expect([actorKind, actorName, actorApiTokenId]).toEqual(['API_TOKEN', 'history', 7]);
      }
      expect(replay(events)).toEqual(await storedGroups(database));
    }),
    { numRuns: 15 },
  );
  const kinds = ['created', 'updated', 'token_rotated', 'environment_changed', 'deleted'].map((kind) => `user_group.${kind}`);
  expect(seen).toEqual(new Set(kinds));
  const { rows } = await database.pool.query<{ text: string }>('select event::text as text from event');
  expect(tokens.length).toBeGreaterThan(10);
  expect(tokens.filter((token) => rows.some(({ text }) => text.includes(token) || text.includes(token.slice(4, 34))))).toEqual(
    [],
  );
});

test('updates that do not change a value record nothing', async () => {
  const context = contextOf(
    apps[0] as App,
    callerWith({ id: 7, name: 'history', environmentTag: null, scopes: ['groups:write'] }),
  );
  const by = { providedId: 'unchanged' };
  const fields = { name: 'A', properties: { a: 1, b: { c: [1] } }, mapping: [{ schemaId: 's', dataSource: 'd' }] };
  await getOrCreateUserGroup(context, { ...by, ...fields });
  await getOrCreateUserGroup(context, { ...by, name: 'B' });
  await updateUserGroup(context, by, fields);
  await updateUserGroup(context, by, { properties: { b: { c: [1] }, a: 1 } });
  await updateUserGroup(context, by, { mergeProperties: { a: 1 } });
  await updateUserGroup(context, by, {});
  const events = await database.prisma.event.findMany({ where: by });
  expect(events.map(({ type }) => type)).toEqual(['user_group.created']);
});
