import { setTimeout as pause } from 'node:timers/promises';
import { residentMiB } from '../../../test/support/processes.ts';
import { createAgent, isRefusal, type Reply, send, sendGraphQL } from '../../client.ts';
import { Instance } from '../../instance.ts';
import type { Scenario, ScenarioContext } from '../../scenario.ts';
import { mostRefusalMs, type Overload, quantile, seconds } from '../../summary.ts';

const groups = 300;
const mapping = Array.from({ length: 20 }, (_, index) => ({ schemaId: `schema ${index}`, dataSource: `source ${index}` }));
const seed = `mutation ($groups: [GetOrCreateUserGroupInput!]!) {
  getOrCreateUserGroups(input: { groups: $groups }) { __typename }
}`;
/** Costs more than an operation that is executed at once. */
const heavy = '{ userGroups(first: 100) { totalCount nodes { teamId name token properties mapping { schemaId dataSource } } } }';

const overload = 4;
const overloadSeconds = 15;
/** How long `/livez` may take. */
const mostLiveMs = 1_000;
/** Of what is served without overload, this part must be served with it. The drill takes processor time from the gateway. */
const leastServedPart = 0.4;
/** The longest that a served request may take: as long as the gateway waits for the database. */
const mostServedMs = 13_000;

async function startSeeded(context: ScenarioContext) {
  const instance = new Instance(context);
  const gateway = await instance.start();
  const token = await instance.createToken(gateway.port);
  const ids = Array.from({ length: groups }, (_, index) => `group ${index}`);
  for (let from = 0; from < groups; from += 50) {
    const variables = { groups: ids.slice(from, from + 50).map((providedId) => ({ providedId, mapping })) };
    const { status, text } = await sendGraphQL(gateway.port, seed, variables, { token });
    if (status !== 200) throw new Error(`The groups were not created: ${status} ${text.slice(0, 300)}`);
  }
  return { instance, gateway, token };
}

/** Lists at four times the rate that the gateway can serve. */
export const overloadScenario: Scenario = {
  name: 'overload',
  summary: `costly lists at ${overload} times the rate that the gateway can serve, for ${overloadSeconds} s`,
  async run(context) {
    const { totals } = context;
    const { gateway, token } = await startSeeded(context);
    const { port } = gateway;
    const agent = createAgent();
    context.onEnd(() => agent.destroy());
    const request = () => sendGraphQL(port, heavy, {}, { token, agent });
    const capacity = await measureCapacity(request);
    const memoryBefore = residentMiB(gateway.pid) ?? 0;
    const replies: Promise<Reply>[] = [];
    const live: Promise<Reply>[] = [];
    const began = performance.now();
    let memoryMiB = 0;
    /** When requests were served, of the last two seconds. The rate follows them where they are more than was measured before. */
    const servedAt: number[] = [];
    const counted = async () => {
      const reply = await request();
      if (reply.status === 200) servedAt.push(performance.now());
      return reply;
    };
    let due = 0;
    let last = began;
    for (let tick = 0; performance.now() - began < overloadSeconds * 1_000; tick += 1) {
      const now = performance.now();
      while ((servedAt[0] ?? now) < now - 2_000) servedAt.shift();
      due += ((now - last) / 1_000) * overload * Math.max(capacity, servedAt.length / 2);
      last = now;
      while (replies.length < due) replies.push(counted());
      if (tick % 20 === 0) {
        live.push(send(port, 'GET', '/livez'));
        memoryMiB = Math.max(memoryMiB, residentMiB(gateway.pid) ?? 0);
      }
      await pause(10);
    }
    const all = await Promise.all(replies);
    context.figure(`capacity ${Math.round(capacity)} lists/s`);
    totals.overload = report(context, all);
    const liveMs = (await Promise.all(live)).map((each) => (each.status === 200 ? each.milliseconds : Number.POSITIVE_INFINITY));
    const slowestLive = quantile(liveMs, 1);
    const leastServed = leastServedPart * capacity * overloadSeconds;
    context.expect(
      totals.overload.served >= leastServed,
      `only ${totals.overload.served} requests were served, of ${Math.round(capacity * overloadSeconds)} without overload`,
    );
    context.figure(
      `/livez within ${Math.round(slowestLive)} ms; memory ${Math.round(memoryBefore)} MiB, at most ${Math.round(memoryMiB)} MiB`,
    );
    context.expect(slowestLive < mostLiveMs, `/livez took ${Math.round(slowestLive)} ms`);
    context.expect(memoryMiB < 400, `memory grew to ${Math.round(memoryMiB)} MiB`);
    const after = await request();
    context.expect(after.status === 200, `afterwards a list got ${after.status}`);
  },
};

/** How many requests a second are served with as many at a time as the gateway executes, for three seconds. */
async function measureCapacity(request: () => Promise<Reply>): Promise<number> {
  let served = 0;
  const began = performance.now();
  const work = async () => {
    while (performance.now() - began < 3_000) if ((await request()).status === 200) served += 1;
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return (served * 1_000) / (performance.now() - began);
}

const timesOf = (replies: readonly Reply[]) => replies.map(({ milliseconds }) => milliseconds);

/** Adds the figures of requests that were served and refused, and returns them. */
function report({ figure, expect }: ScenarioContext, all: readonly Reply[]): Overload {
  const served = all.filter(({ status, json }) => status === 200 && !json?.errors);
  const refused = all.filter(isRefusal);
  const p99 = quantile(timesOf(served), 0.99);
  const refusedP99 = quantile(timesOf(refused), 0.99);
  figure(
    `${all.length} requests: ${served.length} served, p99 ${seconds(p99)} s; ${refused.length} refused, p99 ${seconds(refusedP99)} s`,
  );
  const other = all.find((reply) => !served.includes(reply) && !isRefusal(reply));
  expect(other === undefined, `another response: ${other?.status} ${other?.text.slice(0, 200)}`);
  expect(served.length > 0 && refused.length > 0, 'nothing was served, or nothing refused');
  expect(refusedP99 < mostRefusalMs, `refusals took up to ${seconds(refusedP99)} s`);
  expect(p99 < mostServedMs, `served requests took up to ${seconds(p99)} s`);
  return { requests: all.length, served: served.length, refused: refused.length, servedP99Ms: p99, refusedP99Ms: refusedP99 };
}
