import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import { type PatroniCluster, startPatroniCluster } from '../patroni.ts';
import type { ScaleScenario } from '../scale-scenario.ts';

const events: readonly [name: string, act: (cluster: PatroniCluster) => Promise<void>][] = [
  ['PostgreSQL of the leader killed', (cluster) => cluster.killPostgres()],
  ['PostgreSQL and Patroni of the leader killed', (cluster) => cluster.killMachine()],
  ['Patroni of the leader killed', (cluster) => cluster.killPatroni()],
  ['planned switchover', (cluster) => cluster.switchOver()],
];

/** Three servers with Patroni and etcd, through HAProxy. */
export const patroniScenario: ScaleScenario = {
  name: 'patroni-haproxy',
  needs: { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy', initdb: 'postgresql-15' },
  async run(context) {
    const cluster = await startPatroniCluster(context.folder);
    context.onEnd(() => cluster.stop());
    const gateways = await startGateways(context, cluster.proxyUrl, 2);
    const load = startLoadOn(context, gateways);
    for (const [name, act] of events) {
      await cluster.untilHealthy();
      const before = await cluster.leader();
      const result = await runEvent(load, gateways, name, async () => {
        await act(cluster);
        // An event that changes nothing for the gateways would pass as soon as it began.
        await new Promise((resolve) => setTimeout(resolve, (cluster.ttlSeconds + 5) * 1_000));
      });
      context.result({ ...result, note: `TTL ${cluster.ttlSeconds} s; ${before} → ${await cluster.leader()}` });
    }
  },
};
