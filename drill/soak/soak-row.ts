import { setTimeout as pause } from 'node:timers/promises';
import { createAgent, type Reply, send, sendGraphQL } from '../client.ts';
import { checkWriters } from '../faults/check-writers.ts';
import { type FaultRow, quantile } from '../faults/fault-row.ts';
import { Instance } from '../faults/instance.ts';
import { startWriters } from '../faults/writers.ts';
import { openFiles, residentMiB } from '../processes.ts';
import { seconds } from '../summary.ts';

const read = 'query ($by: UserGroupBy!) { userGroup(by: $by) { teamId name token properties } }';
const list = '{ userGroups(first: 20) { totalCount nodes { teamId name token } pageInfo { endCursor } } }';
const events = '{ events(first: 20) { nodes { type occurredAt changes } } }';
const readers = 6;
/** How much more the last third may take than the second, after the start; the collector frees memory at times of its own. */
const mostGrowthMiB = 40;
const mostMoreFiles = 16;
const mostMoreConnections = 4;

interface Sample {
  readonly memoryMiB: number;
  readonly files: number;
  readonly connections: number;
}

/** A mixed load for this many minutes. */
export const soakRow = (minutes: number): FaultRow => ({
  name: 'soak',
  summary: 'mixed load',
  async run(context) {
    const { figure, expect, onEnd } = context;
    const instance = new Instance(context);
    const gateway = await instance.start();
    const { port, pid } = gateway;
    const token = await instance.createToken(port);
    const agent = createAgent();
    let stopped = false;
    onEnd(() => {
      stopped = true;
      agent.destroy();
    });
    const latencies: number[] = [];
    const wrong: string[] = [];
    let requests = 0;
    const note = (reply: Reply, ...expected: readonly number[]) => {
      requests += 1;
      latencies[requests % 100_000] = reply.milliseconds;
      // GraphQL responds to a failed operation with 200, too.
      const isExpected = expected.includes(reply.status) && (reply.status !== 200 || !reply.json?.errors);
      if (!isExpected && wrong.length < 10) wrong.push(`${reply.status} ${reply.text.slice(0, 200)}`);
    };
    const own = { token, agent };
    const kinds: readonly ((step: number) => Promise<void>)[] = [
      async (step) => note(await sendGraphQL(port, read, { by: { providedId: `none ${step % 500}` } }, own), 200),
      async () => note(await sendGraphQL(port, list, {}, own), 200),
      async () => note(await sendGraphQL(port, events, {}, { token: instance.admin, agent }), 200),
      // A document that was never sent before.
      async (step) => note(await sendGraphQL(port, `{ a${step}: caller { name } }`, {}, own), 200),
      async () => note(await send(port, 'GET', '/api/user', { agent, body: { user_group_id: 'a' } }), 401),
      async () =>
        note(await send(port, 'POST', '/api/user', { ...own, body: { current_token: 'no such token at all' } }), 400, 404),
      async () => note(await send(port, 'GET', '/readyz'), 200), // on a connection of its own
      async () => note(await send(port, 'GET', '/metrics', { token: instance.admin, agent }), 200),
    ];
    const work = async (reader: number) => {
      for (let step = reader; !stopped; step += 1) {
        await kinds[step % kinds.length]?.(step);
        await pause(2);
      }
    };
    const working = Promise.all(Array.from({ length: readers }, (_, reader) => work(reader)));
    const writers = startWriters(() => port, token, context, 2);
    const samples: Sample[] = [];
    const deadline = performance.now() + minutes * 60_000;
    await instance.withDatabase(async ({ pool }) => {
      const count = `select count(*)::int as count from pg_stat_activity where application_name like 'user-group-gateway%'`;
      while (performance.now() < deadline) {
        await pause(Math.min(1_000, (minutes * 60_000) / 30));
        const { rows } = await pool.query<{ count: number }>(count);
        samples.push({ memoryMiB: residentMiB(pid), files: openFiles(pid), connections: rows[0]?.count ?? 0 });
      }
    });
    stopped = true;
    await working;
    await checkWriters(context, writers, instance);
    const third = Math.max(1, Math.floor(samples.length / 3));
    const median = (part: readonly Sample[], of: (sample: Sample) => number) => quantile(part.map(of), 0.5);
    const compare = (of: (sample: Sample) => number) =>
      [median(samples.slice(third, 2 * third), of), median(samples.slice(-third), of)] as const;
    const [memoryBefore, memoryLast] = compare(({ memoryMiB }) => memoryMiB);
    const [filesBefore, filesLast] = compare(({ files }) => files);
    const [connectionsBefore, connectionsLast] = compare(({ connections }) => connections);
    figure(
      `${minutes} min, ${requests} other requests, p99 ${seconds(quantile(latencies.filter(Boolean), 0.99))} s, ${wrong.length} wrong`,
    );
    figure(
      `median of the second and the last third: memory ${Math.round(memoryBefore)} and ${Math.round(memoryLast)} MiB, open files ${filesBefore} and ${filesLast}, connections to the database ${connectionsBefore} and ${connectionsLast}`,
    );
    context.totals.notes.push(`soak: memory ${Math.round(memoryBefore)} to ${Math.round(memoryLast)} MiB in ${minutes} minutes`);
    expect(requests >= kinds.length, `only ${requests} other requests were sent`);
    expect(wrong.length === 0, `wrong responses: ${wrong.slice(0, 3).join('; ')}`);
    expect(writers.refused + writers.closed === 0, `${writers.refused + writers.closed} writes failed`);
    expect(memoryLast - memoryBefore < mostGrowthMiB, `memory grew by ${Math.round(memoryLast - memoryBefore)} MiB`);
    expect(filesLast - filesBefore < mostMoreFiles, `${filesLast - filesBefore} more files are open`);
    expect(connectionsLast - connectionsBefore <= mostMoreConnections, 'more connections to the database are open');
  },
});
