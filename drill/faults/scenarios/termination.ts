import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { until } from '../../../test/support/process.ts';
import { createAgent, type Reply, send } from '../../client.ts';
import { Instance } from '../../instance.ts';
import type { Scenario } from '../../scenario.ts';
import { seconds } from '../../summary.ts';

const drainSeconds = 3;
const callers = 24;
/** Requests that wait for a lock until after the listener is closed. */
const held = 8;

/** SIGTERM while requests are executed. */
export const terminationScenario: Scenario = {
  name: 'sigterm',
  summary: `SIGTERM under load with DRAIN_DELAY_SECONDS=${drainSeconds}`,
  async run(context) {
    const { figure, expect, onEnd } = context;
    const instance = new Instance(context, { DRAIN_DELAY_SECONDS: String(drainSeconds) });
    const gateway = await instance.start();
    const token = await instance.createToken(gateway.port);
    const { port } = gateway;
    const body = { user_group_id: 'locked', name: 'x' };
    await send(port, 'GET', '/api/user', { token, body });
    const agent = createAgent();
    onEnd(() => agent.destroy());
    const replies: Reply[] = [];
    let closedAt = Number.POSITIVE_INFINITY;
    let stopped = false;
    const work = async (caller: number) => {
      for (let step = 0; !stopped; step += 1) {
        const request = { token, agent, body: { user_group_id: `group ${caller} ${step}` } };
        replies.push(await send(port, 'GET', '/api/user', request));
      }
    };
    onEnd(() => {
      stopped = true;
    });
    const working = Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
    await until(() => replies.length > 500, 'requests are served');

    const client = new pg.Client({ connectionString: instance.databaseUrl() });
    client.on('error', () => {});
    onEnd(() => client.end().catch(() => {}));
    await client.connect();
    await client.query('begin');
    await client.query(`select from user_group where provided_id = 'locked' for update`);
    process.kill(gateway.pid, 'SIGTERM');
    const terminatedAt = performance.now();
    await until(async () => (await send(port, 'GET', '/readyz')).status === 503, '/readyz responds with 503', 1_000);
    const livez = await send(port, 'GET', '/livez');
    expect(livez.status === 200, `/livez responded with ${livez.status} while draining`);
    // A load balancer notices that a second later, and sends no more.
    const servedUntil503 = replies.length;
    await pause(1_000);
    stopped = true;
    await working;
    expect(replies.length > servedUntil503, 'nothing was served while draining');
    await pause(Math.max(0, drainSeconds * 1_000 - 700 - (performance.now() - terminatedAt)));
    const inFlight = Array.from({ length: held }, () => send(port, 'PUT', '/api/user', { token, body }));
    await until(async () => (await send(port, 'GET', '/livez')).text === 'ECONNREFUSED', 'the listener is closed', 10_000);
    closedAt = performance.now();
    await pause(500);
    const runs = instance.postmaster() !== undefined && gateway.ended() === undefined;
    expect(runs, 'PostgreSQL or the gateway ended before its requests');
    await client.query('rollback');
    const answered = await Promise.all(inFlight);
    expect(instance.postmaster() !== undefined, 'PostgreSQL ended before the last response');
    await client.end();
    await until(() => gateway.ended(), 'the gateway exits', 40_000);
    const drainedMs = performance.now() - terminatedAt;
    const reset = [...replies, ...answered].filter(({ status }) => status === 0);
    const others = replies.filter(({ status }) => ![0, 200].includes(status));
    figure(
      `/readyz 503 for ${seconds(closedAt - terminatedAt)} s until the listener closed; ${replies.length} requests served meanwhile, ${reset.length} connections reset`,
    );
    figure(
      `${answered.filter(({ status }) => status === 200).length} of ${held} in-flight requests answered; ${gateway.ended()} after ${seconds(drainedMs)} s, PostgreSQL stopped`,
    );
    expect(closedAt - terminatedAt >= drainSeconds * 1_000 - 200, 'the listener closed before DRAIN_DELAY_SECONDS');
    expect(
      answered.every(({ status }) => status === 200),
      `in-flight requests got ${answered.map(({ status }) => status).join()}`,
    );
    expect(reset.length === 0, `${reset.length} connections were reset: ${reset[0]?.text}`);
    expect(others.length === 0, `other responses: ${others[0]?.status} ${others[0]?.text}`);
    expect(gateway.ended() === 'exit status 0', `the gateway ended with ${gateway.ended()}`);
    expect(instance.postmaster() === undefined, 'PostgreSQL still runs');
  },
};
