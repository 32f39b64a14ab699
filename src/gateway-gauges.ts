import { waitingKeys } from './database/batch-statistics.ts';
import type { Database } from './database/client.ts';
import type { GraphQLMetrics } from './metrics/graphql-metrics.ts';
import type { SeriesData } from './metrics/instruments.ts';
import { readPackageVersion } from './package-root.ts';

let version: string | undefined;

/** The gauges of a gateway as they are now. */
export function gatewayGauges({ pool }: Pick<Database, 'pool'>, graphql: GraphQLMetrics): SeriesData[] {
  version ??= readPackageVersion();
  const queue = (name: string, length: number): SeriesData => ({ metric: 'queue', labels: [name], values: [length] });
  return [
    { metric: 'cachedDocuments', labels: [], values: [graphql.cachedDocuments()] },
    { metric: 'poolConnections', labels: ['idle'], values: [pool.idleCount] },
    { metric: 'poolConnections', labels: ['busy'], values: [pool.totalCount - pool.idleCount] },
    { metric: 'poolLimit', labels: [], values: [pool.options.max] },
    queue('database_connections', pool.waitingCount),
    queue('database_keys', waitingKeys.count),
    queue('documents', graphql.waitingDocuments()),
    queue('operations', graphql.waitingOperations()),
    { metric: 'build', labels: [version, process.version], values: [1] },
  ];
}
