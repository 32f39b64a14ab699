import { waitingKeys } from './database/batch-loader.ts';
import type { Database } from './database/client.ts';
import { heavyWork } from './heavy-work.ts';
import type { GraphQLMetrics } from './metrics/graphql-metrics.ts';
import { metrics } from './metrics/metrics.ts';
import { readPackageVersion } from './package-root.ts';

let version: string | undefined;

/** Sets the gauges of a gateway to what they are now. */
export function measureGateway({ pool, poolSize }: Pick<Database, 'pool' | 'poolSize'>, graphql: GraphQLMetrics): void {
  version ??= readPackageVersion();
  metrics.cachedDocuments.set(graphql.cachedDocuments());
  metrics.poolConnections.set({ state: 'idle' }, pool.idleCount);
  metrics.poolConnections.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
  metrics.poolLimit.set(poolSize);
  metrics.queue.set({ queue: 'database_connections' }, pool.waitingCount);
  metrics.queue.set({ queue: 'database_keys' }, waitingKeys.count);
  metrics.queue.set({ queue: 'heavy_work' }, heavyWork.waiting);
  metrics.build.set({ version, node_version: process.version }, 1);
}
