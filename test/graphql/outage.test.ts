import { afterAll, beforeAll, expect, test } from 'vitest';
import { contextOf } from '../../src/app.ts';
import type { Sql } from '../../src/database/client.ts';
import { callerWith } from '../support/caller.ts';
import { createContext } from '../support/context.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPaths } from '../support/fuzz/paths.ts';
import { appOn } from '../support/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** The database, with a count of the statements that were sent, on a connection that can be cut. */
function counted() {
  const state = { statements: 0, isCut: false };
  const sql: Sql = async (...statement) => {
    state.statements += 1;
    if (state.isCut) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    return database.sql(...statement);
  };
  return { state, app: appOn({ ...database, sql }) };
}

test('while the database does not respond, a request with a compiled query asks it once, from the second request on', async () => {
  const { state, app } = counted();
  const { full, fast, compiles } = createPaths();
  const params = { query: 'query ($id: Int!) { userGroup(by: { teamId: $id }) { name } }', variables: { id: 1 } };
  expect(compiles(params.query)).toBe(true);
  const caller = callerWith({
    id: 1,
    name: 'test',
    environmentTag: null,
    scopes: ['groups:read'],
  });
  const context = () => createContext(contextOf(app, caller));
  await full(params, undefined, context());
  for (let use = 0; use < 5; use += 1) expect((await fast(params, undefined, context()))?.status).toBe(200);

  state.isCut = true;
  expect((await fast(params, undefined, context()))?.status).toBe(503);
  state.statements = 0;
  for (let use = 0; use < 5; use += 1) expect((await fast(params, undefined, context()))?.status).toBe(503);
  expect(state.statements).toBe(5);

  state.isCut = false;
  expect((await fast(params, undefined, context()))?.status).toBe(200);
});
