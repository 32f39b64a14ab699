import type { BenchDatabase } from './database.ts';
import type { Generator } from './generator.ts';
import type { Measurement } from './load/protocol.ts';
import { firstTeamId } from './load/rows.ts';
import type { WorkloadId } from './load/workloads.ts';
import { probe } from './probe.ts';
import { type Running, type SystemId, startSystem } from './systems.ts';

/** How many connections load a system. */
const connections = 64;

/** How long each measurement runs before it counts. */
const warmUpMs = 500;

/** How long each system runs at least before the first round. */
const firstWarmUpMs = 5_000;

/** One in how many answers is compared in full. */
const sampleEvery = 64;

/** Those that write rows. */
const writingWorkloads: readonly WorkloadId[] = ['rest-create', 'rest-rotate', 'rest-update'];

/** What was measured of one system with one workload: a measurement a round. */
export interface Series {
  readonly workload: WorkloadId;
  readonly system: SystemId;
  readonly measurements: Measurement[];
}

/** How to measure. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Whether every answer is compared, and nothing warmed up. */
  readonly check: boolean;
  readonly say: (text: string) => void;
}

/** One of several that are measured by turns, and the database that it works on. */
export interface Contender {
  readonly running: Running;
  readonly database: BenchDatabase;
}

/** Measures systems with one workload on one database, by turns. @throws Error when one of them answers wrongly. */
export async function measureWorkload(
  generator: Generator,
  database: BenchDatabase,
  workload: WorkloadId,
  systems: readonly SystemId[],
  plan: Plan,
): Promise<Series[]> {
  const contenders: Contender[] = [];
  for (const system of systems) {
    plan.say(`${workload}: starting ${system}`);
    const running = await startSystem(system, { DATABASE_URL: database.url, WORKLOAD: workload });
    contenders.push({ running, database });
    await probe(running, workload, database);
  }
  const before = await countCreated(database);
  const measured = await measureByTurns(generator, workload, contenders, plan);
  for (const { running } of contenders) await running.stop();

  const creations = measured.filter(({ system }) => system !== 'baseline').reduce((sum, { answered }) => sum + answered, 0);
  if (workload === 'rest-create') await verifyCreated(database, before + creations);
  if (workload === 'rest-rotate') await verifyTokens(generator, database);
  if (workload === 'rest-update') await verifyUpdates(generator, database);
  return measured.map(({ system, measurements }) => ({ workload, system, measurements }));
}

/** Measures contenders by turns: A B C, B C A, C A B, so that whatever else the machine does meets all of them alike. */
export async function measureByTurns(
  generator: Generator,
  workload: WorkloadId,
  contenders: readonly Contender[],
  { rounds, seconds, check, say }: Plan,
): Promise<{ system: SystemId; measurements: Measurement[]; answered: number }[]> {
  const results = contenders.map(({ running: { system } }) => ({ system, measurements: [] as Measurement[], answered: 0 }));
  // Round 0 is not counted: just-in-time compilation, connections, the database's cache.
  for (let round = check ? 1 : 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const which = (turn + round) % contenders.length;
      const [contender, result] = [contenders[which], results[which]];
      if (!contender || !result) continue;
      const { running, database } = contender;
      if (writingWorkloads.includes(workload)) await tidy(database);
      const measureMs = round === 0 ? firstWarmUpMs : seconds * 1_000;
      const label = `${workload}  ${round === 0 ? 'warming up' : `round ${round}/${rounds}`}  ${running.system} on ${database.groups} groups`;
      say(label);
      const measurement = await generator
        .run({
          ...{ database: database.name, workload, connections, credentials: database.credentials },
          ...{ port: running.port, pid: running.pid, databasePid: database.serverPid, warmUpMs: check ? 0 : warmUpMs, measureMs },
          sampleEvery: running.system === 'baseline' ? 0 : check ? 1 : sampleEvery,
        })
        .catch((error: Error) => {
          throw new Error(`${running.system} failed: ${error.message}`);
        });
      say(`${label}  ${Math.round(measurement.requestsPerSecond)} requests/s`);
      result.answered += measurement.answered;
      if (round > 0) result.measurements.push(measurement);
    }
  }
  return results;
}

/** Lets no system pay for the rows that the one before it wrote. */
async function tidy(database: BenchDatabase): Promise<void> {
  await database.query('vacuum analyze user_group');
  await database.query('checkpoint');
}

async function countCreated(database: BenchDatabase): Promise<number> {
  const text = `select count(*)::int as count from user_group where provided_id like 'fresh-%'`;
  return (await database.query<{ count: number }>(text))[0]?.count ?? 0;
}

async function verifyCreated(database: BenchDatabase, expected: number): Promise<void> {
  const stored = await countCreated(database);
  if (stored !== expected) throw new Error(`${expected} groups were reported as created, but ${stored} are stored`);
}

async function verifyTokens(generator: Generator, database: BenchDatabase): Promise<void> {
  for (const { index, token } of await generator.recall({ database: database.name, count: 1_000 })) {
    const text = 'select token from user_group where team_id = $1';
    const [stored] = await database.query<{ token: string }>(text, [firstTeamId + index]);
    if (stored?.token !== token) throw new Error(`a rotation returned ${token}, but ${stored?.token} is stored`);
  }
}

async function verifyUpdates(generator: Generator, database: BenchDatabase): Promise<void> {
  const updated = (await generator.recall({ database: database.name, count: 2_000 })).filter(({ revision }) => revision > 0);
  if (updated.length === 0) throw new Error('no update was answered of any of the groups that were drawn');
  for (const { index, revision } of updated) {
    const text =
      "select name, properties->>'revision' as revision, updated_at > created_at as later from user_group where team_id = $1";
    const [stored] = await database.query<{ name: string; revision: string; later: boolean }>(text, [firstTeamId + index]);
    const isStored = stored?.name === `Name ${revision}` && stored.revision === String(revision) && stored.later;
    if (!isStored) throw new Error(`an update wrote ${revision}, but ${JSON.stringify(stored)} is stored`);
  }
}
