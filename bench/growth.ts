import type { BenchServer } from './database.ts';
import type { Generator } from './generator.ts';
import type { WorkloadId } from './load/workloads.ts';
import { connections } from './measure.ts';
import { grid } from './report.ts';
import { startSystem } from './systems.ts';

/** The groups before the growth, for which the plans of all statements are made, and after it. */
const groupsBefore = 100;
const groupsAfter = 20_000;

/** How long each measurement takes. PostgreSQL's own update of statistics, which may come minutes later, is off. */
const measureMs = 3_000;

/** How long a gateway runs before the growth. */
const warmUpMs = 5_000;

/** The least ratio of the rate right after the growth to that with new statistics. */
const leastRatio = 0.8;

/** Statements that find groups: two look-ups, an update and a rotation. */
const workloads: readonly WorkloadId[] = ['gql-token', 'rest-get', 'rest-update', 'rest-rotate'];

/**
 * Measures how fast a gateway is right after its database has grown from 100 to 20,000 groups, and again after `analyze`.
 *
 * @returns whether each ratio is at least 0.8.
 */
export async function measureGrowth(server: BenchServer, generator: Generator, print: (text: string) => void): Promise<boolean> {
  const rows: string[][] = [];
  let reached = true;
  for (const [index, workload] of workloads.entries()) {
    const database = await server.seed(`growth_${index}`, groupsBefore);
    await database.query('alter table user_group set (autovacuum_enabled = false)');
    const running = await startSystem('gateway', { DATABASE_URL: database.url });
    const measure = async (ms: number): Promise<number> => {
      const { requestsPerSecond } = await generator.run({
        database: database.name,
        workload,
        connections,
        credentials: database.credentials,
        port: running.port,
        pid: running.pid,
        databasePid: database.serverPid,
        warmUpMs: 0,
        measureMs: ms,
        sampleEvery: 64,
      });
      return requestsPerSecond;
    };
    await generator.learn(database.name, database.tokenFile);
    await measure(warmUpMs);
    await database.grow(groupsAfter);
    await generator.learn(database.name, database.tokenFile);
    const grown = await measure(measureMs);
    await database.query('analyze');
    const analyzed = await measure(measureMs);
    await running.stop();
    const ratio = grown / analyzed;
    if (!(ratio >= leastRatio)) reached = false;
    rows.push([workload, grown.toFixed(0), analyzed.toFixed(0), ratio.toFixed(2), `≥ ${leastRatio}`]);
  }
  print(grid([['requests/s', 'right after growth', 'after ANALYZE', 'ratio', 'target'], ...rows]));
  return reached;
}
