import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/process.ts';
import { descendants, residentMiB } from '../../test/support/processes.ts';
import { createAgent, isRefusal, type Reply, send, sendGraphQL } from '../client.ts';
import { Instance, startPostgres } from '../instance.ts';
import { type Scenario, seconds } from '../scenario.ts';

const frozenMs = 30_000;
const readers = 64;
/** The longest that a request may take: the time limit of statements, and a second for its end. */
const deadlineMs = 13_000;
const mostGrowthMiB = 48;

const read = 'query ($id: String!) { userGroup(by: { providedId: $id }) { token } }';

/** A database that neither responds nor closes connections. */
export const frozenScenario: Scenario = {
  name: 'frozen',
  summary: 'SIGSTOP of every process of PostgreSQL for 30 s, while reads and writes run',
  async run(context) {
    const { figure, expect, onEnd } = context;
    const instance = new Instance(context);
    const server = await startPostgres(instance, context);
    const gateway = await instance.start({ DATABASE_URL: server.url });
    const { token } = instance;
    const agent = createAgent();
    const replies: Reply[] = [];
    let isFrozen = false;
    let stopped = false;
    const work = async (reader: number) => {
      while (!stopped) {
        const wasFrozen = isFrozen;
        const reply =
          reader % 4 === 0
            ? await send(gateway.port, 'PUT', '/api/user', { token, agent, body: { user_group_id: 'a', name: 'x' } })
            : await sendGraphQL(gateway.port, read, { id: `group ${reader}` }, { token, agent });
        if (isFrozen || wasFrozen) replies.push(reply); // with those that were frozen and ended only after the thaw
        if (!isFrozen) await pause(5);
        if (reply.status !== 200) await pause(50);
      }
    };
    const { port, pid } = gateway;
    await send(port, 'GET', '/api/user', { token, body: { user_group_id: 'a' } });
    const working = Promise.all(Array.from({ length: readers }, (_, reader) => work(reader)));
    onEnd(() => {
      stopped = true;
      agent.destroy();
    });
    await pause(2_000);
    const memoryBefore = residentMiB(pid) ?? 0;
    const processes = descendants(instance.runningPostmaster());
    const signalAll = (signal: NodeJS.Signals) => {
      for (const each of processes) {
        try {
          process.kill(each, signal);
        } catch {
          // has ended
        }
      }
    };
    onEnd(() => signalAll('SIGCONT'));
    signalAll('SIGSTOP');
    isFrozen = true;
    const until30 = performance.now() + frozenMs;
    const live: number[] = [];
    const ready: number[] = [];
    let memoryMiB = 0;
    while (performance.now() < until30) {
      const [livez, readyz] = await Promise.all([send(port, 'GET', '/livez'), send(port, 'GET', '/readyz')]);
      live.push(livez.status === 200 ? livez.milliseconds : Number.POSITIVE_INFINITY);
      ready.push(readyz.status);
      memoryMiB = Math.max(memoryMiB, residentMiB(pid) ?? 0);
      await pause(200);
    }
    const thawedAt = performance.now();
    isFrozen = false;
    signalAll('SIGCONT');
    await until(async () => (await sendGraphQL(port, read, { id: 'a' }, { token })).status === 200, 'reads are served again');
    await until(
      async () => (await send(port, 'PUT', '/api/user', { token, body: { user_group_id: 'a', name: 'y' } })).status === 200,
      'writes are served again',
    );
    const recoveryMs = performance.now() - thawedAt;
    stopped = true;
    await working;
    const slowest = Math.max(0, ...replies.map(({ milliseconds }) => milliseconds));
    const slowestLive = Math.max(...live);
    const others = replies.filter((reply) => !isRefusal(reply) && reply.status !== 200);
    const refused = replies.filter(isRefusal).length;
    figure(`${refused} requests ended in 503 with Retry-After, the slowest after ${seconds(slowest)} s`);
    figure(
      `/livez 200 ${live.length} times, slowest ${Math.round(slowestLive)} ms; /readyz 503 ${ready.filter((status) => status === 503).length} of ${ready.length} times`,
    );
    figure(
      `memory ${Math.round(memoryBefore)} MiB, at most ${Math.round(memoryMiB)} MiB; serves ${seconds(recoveryMs)} s after the thaw`,
    );
    expect(refused >= readers, `only ${refused} requests ended`);
    expect(slowest <= deadlineMs, `a request took ${seconds(slowest)} s`);
    expect(others.length === 0, `${others.length} other responses: ${others[0]?.status} ${others[0]?.text.slice(0, 200)}`);
    expect(slowestLive < 1_000, '/livez did not respond with 200 within 1 s');
    expect(
      ready.every((status) => status === 503),
      '/readyz responded with 200 while the database was frozen',
    );
    expect(memoryMiB - memoryBefore < mostGrowthMiB, `memory grew by ${Math.round(memoryMiB - memoryBefore)} MiB`);
    expect(recoveryMs <= 3_000, `served only ${seconds(recoveryMs)} s after the thaw`);
    expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);
  },
};
