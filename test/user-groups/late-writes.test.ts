import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { waitingKeys, writeLimits } from '../../src/database/batch-loader.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { untilWaiting } from '../support/hold-writes.ts';
import { until } from '../support/process.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function create(id: string): Promise<string> {
  return (await gateway.send('GET', '/api/user', { body: { user_group_id: id } })).json.user_group.token;
}

const rotate = (token: string) => gateway.send('POST', '/api/user', { body: { current_token: token } });

test('a write that waits for others that are locked out gets a 503 in time, and is not made once it can be', async () => {
  const { pool } = gateway.database;
  const [held, late] = [await create('held'), await create('late')];
  const holder = await pool.connect();
  onTestFinished(() => holder.release());
  await holder.query('begin; lock table user_group in share mode');
  // The time that requests wait is the test's, whatever it takes.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  // As many statements as are sent at once.
  const first = rotate(held);
  await untilWaiting(pool, 'user_group');
  const second = rotate(held);
  await untilWaiting(pool, 'user_group', 2);
  const waiting = rotate(late);
  // A look-up waits for a moment only.
  let polls = 0;
  await until(() => {
    polls = waitingKeys.count === 1 ? polls + 1 : 0;
    return polls === 3;
  }, 'it waits');
  vi.advanceTimersByTime(writeLimits.maxWaitMs + 1);
  for (const response of [first, second]) expect((await response).json.detail).toContain('may have been made');
  expect((await waiting).json).toMatchObject({ status: 503, detail: expect.stringContaining('Nothing was changed.') });
  await holder.query('rollback');
  expect((await rotate(held)).status).toBe(200); // as would what waited before it
  expect((await rotate(late)).status).toBe(200);
});
