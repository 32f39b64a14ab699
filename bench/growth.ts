import type { BenchServer } from './database.ts';
import type { Generator } from './generator.ts';
import type { WorkloadId } from './load/workloads.ts';
import { connections } from './measure.ts';
import { grid } from './report.ts';
import { median } from './statistics.ts';
import { startSystem } from './systems.ts';

/** The groups before the growth, for which the plans of all statements are made, and after it. */
const groupsBefore = 100;
const groupsAfter = 20_000;

/** How long each measurement takes. */
const measureMs = 3_000;

/** How long a gateway runs before the growth. */
const warmUpMs = 5_000;

/** The least ratio of the rate right after the growth to that with new statistics. */
const leastRatio = 0.8;

/** Statements that find groups: two look-ups, an update and a rotation. */
const workloads: readonly WorkloadId[] = ['gql-token', 'rest-get', 'rest-update', 'rest-rotate'];

/**
 * Measures how fast a gateway is right after its database has grown from 100 to 20,000 groups, and after `analyze`: each on a
 * database of its own, because the first requests for a group cost more, such as for when it was last looked up.
 *
 * @param only the workloads; of them, those that find groups.
 * @param rounds how often each ratio is measured; the median counts.
 * @returns whether each ratio is at least 0.8.
 */
export async function measureGrowth(
  server: BenchServer,
  generator: Generator,
  print: (text: string) => void,
  { only, rounds }: { readonly only: readonly WorkloadId[]; readonly rounds: number },
): Promise<boolean> {
  let databases = 0;
  const measure = async (workload: WorkloadId, isAnalyzed: boolean): Promise<number> => {
    databases += 1;
    const database = await server.seed(`growth_${databases}`, groupsBefore);
    const running = await startSystem('gateway', { DATABASE_URL: database.url });
    const run = async (ms: number): Promise<number> => {
      await generator.learn(database.name, database.tokenFile);
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
    await run(warmUpMs);
    await database.grow(groupsAfter);
    if (isAnalyzed) await database.query('analyze');
    const rate = await run(measureMs);
    await running.stop();
    await database.drop();
    return rate;
  };
  const chosen = workloads.filter((each) => only.includes(each));
  if (chosen.length === 0) throw new Error(`--growth measures ${workloads.join(', ')}.`);
  const rows: string[][] = [];
  let reached = true;
  for (const workload of chosen) {
    const pairs: { grown: number; analyzed: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // The two take turns at going first, so that neither has the quieter machine.
      const first = await measure(workload, round % 2 === 1);
      const second = await measure(workload, round % 2 === 0);
      pairs.push(round % 2 === 0 ? { grown: first, analyzed: second } : { grown: second, analyzed: first });
    }
    const ratios = pairs.map(({ grown, analyzed }) => grown / analyzed);
    const ratio = median(ratios);
    if (!(ratio >= leastRatio)) reached = false;
    const rates = [pairs.map(({ grown }) => grown), pairs.map(({ analyzed }) => analyzed)].map((each) => median(each).toFixed(0));
    const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    rows.push([workload, ...rates, ratio.toFixed(2), range, `≥ ${leastRatio}`]);
  }
  print(grid([['requests/s', 'right after growth', 'after ANALYZE', 'ratio', 'range', 'target'], ...rows]));
  return reached;
}
