import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { Coverage, type Gateways, issueHeaders, runHistory, type Step, stepsOn } from '../support/model-history.ts';
import { draftOf } from '../support/model-operations.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';
import { replay, storedGroups } from '../support/replay.ts';
import { sendRequest } from '../support/request.ts';

let database: TestDatabase;
let gateways: Gateways;

beforeAll(async () => {
  database = await createTestDatabase();
  const headersOf = await issueHeaders(database);
  const start = () => serve({ DATABASE_URL: database.url });
  const processes = await Promise.all([start(), start(), start()]);
  const busy = `select from pg_stat_activity
    where datname = current_database() and application_name = 'user-group-gateway' and state <> 'idle' and pid <> pg_backend_pid()`;
  gateways = {
    count: processes.length,
    async send(gateway, request) {
      const { query, variables } = request;
      const { url } = processes[gateway] as ServeProcess;
      const reply = sendRequest(url, 'POST', '/graphql', { headers: headersOf(request), body: { query, variables } });
      return reply.catch((error: NodeJS.ErrnoException) => {
        if (error.code === undefined) throw error;
        return undefined; // the connection was refused, or ended
      });
    },
    async replace(gateway) {
      await (processes[gateway] as ServeProcess).stop('SIGKILL');
      await until(async () => (await database.pool.query(busy)).rowCount === 0, 'statements of the killed gateway end');
      processes[gateway] = await start();
    },
  };
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

/** Writes with and without a key, on gateways that are killed at once. */
const killedSteps: Step[] = [0, 1, 2, 3].map((killAfterMs) => ({
  calls: (['getOrCreate', 'patch', 'rotate'] as const).map((kind) => ({
    drafts: [draftOf({ kind, id: killAfterMs % 2 })],
    gateway: killAfterMs % 3,
    isKeyed: kind === 'getOrCreate',
  })),
  killAfterMs,
}));

test('every response of gateways that are killed at random conforms to the model, and what has none was executed or not', async () => {
  const coverage = new Coverage();
  await runHistory(gateways, killedSteps, coverage);
  let history = Promise.resolve();
  const property = fc.asyncProperty(stepsOn(gateways.count, true), (sequence) => {
    history = runHistory(gateways, sequence, coverage);
    return history;
  });
  // Without shrinking: another order of events would be another history.
  const options = { numRuns: 8, endOnFailure: true, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false };
  await fc.assert(property, options);
  await history; // which goes on when the time is over
  // Otherwise the comparison proves little.
  const { kills, lost, sentAgain, replayed } = coverage;
  expect(Object.entries({ kills, lost, sentAgain, replayed }).filter(([, count]) => count === 0)).toEqual([]);

  const events = await database.prisma.event.findMany({ where: { teamId: { not: null } } });
  expect(events.length).toBeGreaterThan(0);
  expect(replay(events)).toEqual(await storedGroups(database));
});
