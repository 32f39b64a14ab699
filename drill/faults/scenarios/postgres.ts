import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../../test/support/process.ts';
import { send } from '../../client.ts';
import { Instance, startPostgres } from '../../instance.ts';
import type { Scenario, ScenarioContext } from '../../scenario.ts';
import { seconds } from '../../summary.ts';
import { checkWriters } from '../check-writers.ts';
import { startWriters, type Writers } from '../writers.ts';

/** The most that may pass between the database's return and the gateway's service. */
const mostRecoveryMs = 3_000;

/** Ends of an operator's PostgreSQL while reads and writes run. */
export const postgresScenario: Scenario = {
  name: 'postgres',
  summary: 'SIGKILL of your own PostgreSQL, immediate stop, and restart, while reads and writes run',
  async run(context) {
    const own = new Instance(context, {}, 'own');
    const server = await startPostgres(own, context.onEnd);
    const gateway = await own.start({ DATABASE_URL: server.url });
    const writers = startWriters(() => gateway.port, own.token, context);
    for (const [name, signal] of [
      ['SIGKILL', 'SIGKILL'],
      ['immediate stop', 'SIGQUIT'],
      ['restart', 'SIGINT'],
    ] as const) {
      await writers.more(40);
      const refusedBefore = writers.refused;
      await server.end(signal);
      await pause(2_000); // in which requests are sent
      const readiness = await send(gateway.port, 'GET', '/readyz');
      context.expect(readiness.status === 503, `/readyz responded with ${readiness.status} without a database`);
      context.expect(writers.refused > refusedBefore, `no request was refused during the ${name}`);
      await server.start();
      await recovered(context, name, performance.now(), writers, gateway.port);
      context.totals.kills += 1;
    }
    context.expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);
    await checkWriters(context, writers, own);

    context.figure(`${writers.refused} requests got 503 with Retry-After`);
  },
};

/** Waits until a write that was acknowledged after the database's return, and `/readyz`. */
async function recovered(
  { figure, expect }: ScenarioContext,
  name: string,
  backAt: number,
  writers: Writers,
  port: number,
): Promise<void> {
  await until(() => writers.lastAcknowledgedAt > backAt, 'writes are acknowledged again');
  await until(async () => (await send(port, 'GET', '/readyz')).status === 200, '/readyz responds with 200');
  const recoveryMs = Math.max(0, performance.now() - backAt);
  figure(`${name}: serves ${seconds(recoveryMs)} s after the database is back`);
  expect(recoveryMs <= mostRecoveryMs, `${name}: served only ${seconds(recoveryMs)} s after the database was back`);
}
