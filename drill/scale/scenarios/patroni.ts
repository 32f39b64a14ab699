import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import { type PatroniCluster, startPatroniCluster } from '../patroni.ts';
import type { ScaleScenario, ScenarioContext } from '../scale-scenario.ts';

const needs = { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy', initdb: 'postgresql-15' };

type Event = readonly [name: string, act: (cluster: PatroniCluster) => Promise<void>];

const killPostgres: Event = ['PostgreSQL of the leader killed', (cluster) => cluster.killPostgres()];
const killMachine: Event = ['PostgreSQL and Patroni of the leader killed', (cluster) => cluster.killMachine()];
const killPatroni: Event = ['Patroni of the leader killed', (cluster) => cluster.killPatroni()];
const switchOver: Event = ['planned switchover', (cluster) => cluster.switchOver()];

async function runEvents(
  context: ScenarioContext,
  urlOf: (cluster: PatroniCluster) => string,
  events: readonly Event[],
  isDirect = false,
): Promise<void> {
  const cluster = await startPatroniCluster(context.folder);
  context.onEnd(() => cluster.stop());
  const gateways = await startGateways(context, urlOf(cluster), 2);
  const load = startLoadOn(context, gateways);
  for (const [name, act] of events) {
    await cluster.untilHealthy();
    const before = await cluster.leader();
    const result = await runEvent(load, gateways, name, async () => {
      await act(cluster);
      // An event that changes nothing for the gateways would pass as soon as it began.
      await new Promise((resolve) => setTimeout(resolve, (cluster.ttlSeconds + 5) * 1_000));
    });
    // Nothing but a watchdog, which a drill has not, would end the PostgreSQL of the Patroni that was killed.
    const isUnfenced = act === killPatroni[1] && isDirect;
    context.result({ ...result, isUnfenced, note: `TTL ${cluster.ttlSeconds} s; ${before} → ${await cluster.leader()}` });
  }
}

/** Three servers with Patroni and etcd, through HAProxy and without it. */
export const patroniScenarios: readonly ScaleScenario[] = [
  {
    name: 'patroni-haproxy',
    needs,
    run: (context) => runEvents(context, ({ proxyUrl }) => proxyUrl, [killPostgres, killMachine, killPatroni, switchOver]),
  },
  {
    name: 'patroni-multi-host',
    needs,
    run: (context) =>
      runEvents(context, ({ serversUrl }) => serversUrl, [killPostgres, killMachine, killPatroni, switchOver], true),
  },
];
