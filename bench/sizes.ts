import type { BenchDatabase, BenchServer } from './database.ts';
import { openGenerator } from './generator.ts';
import { type Contender, measureInterleaved, type Plan } from './measure.ts';
import { type Gateways, scaleLines, scaleTarget } from './report.ts';
import { startSystem } from './systems.ts';
import { visitAll } from './visit.ts';

/** How many gateways are measured of each kind: two of the same kind differ by up to a tenth for as long as they run. */
const gatewaysOfEachKind = 4;

/**
 * Compares gateways on few groups with gateways on many, interleaved: with those that looked up every group before, and with
 * those that look up each for the first time.
 *
 * @throws Error when a response is wrong.
 */
export async function compareSizes(server: BenchServer, plan: Plan, print: (text: string) => void): Promise<void> {
  const generator = openGenerator();
  const seed = async (groups: number) => {
    plan.logProgress(`seeding ${groups} groups`);
    const database = await server.seed(`bench_${groups}`, groups);
    await generator.learn(database.name, database.tokenFile);
    return database;
  };
  const few = await seed(1_000);
  const many = await seed(1_000_000);

  const start = async (database: BenchDatabase) => startSystem('gateway', { DATABASE_URL: database.url });
  const startVisited = async (database: BenchDatabase) => {
    const running = await start(database);
    plan.logProgress(`looking up each of ${database.groups} groups`);
    await visitAll(running, database);
    return { servers: [running] as const, database };
  };
  const contenders: Contender[] = [];
  for (let gateway = 0; gateway < gatewaysOfEachKind; gateway += 1) {
    contenders.push(await startVisited(few), await startVisited(many));
    contenders.push({ servers: [await start(many)], database: many, isWalk: true });
  }
  const measured = await measureInterleaved(generator, 'gql-token', contenders, plan);
  plan.logProgress('');
  const gatewaysOn = (database: BenchDatabase, isWalk = false): Gateways =>
    measured
      .filter((_, index) => contenders[index]?.database === database && (contenders[index].isWalk ?? false) === isWalk)
      .map(({ measurements }) => measurements);
  print(scaleLines('looked up before', gatewaysOn(few), gatewaysOn(many), scaleTarget));
  print(scaleLines('each for the first time', gatewaysOn(few), gatewaysOn(many, true)));
}
