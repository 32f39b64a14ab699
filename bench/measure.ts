import type { BenchDatabase } from './database.ts';
import { type TokenColumns, tokenOf } from './encryption.ts';
import type { Generator } from './generator.ts';
import type { Measurement } from './load/protocol.ts';
import { firstTeamId } from './load/rows.ts';
import { type WorkloadId, workloads } from './load/workloads.ts';
import { probe } from './probe.ts';
import { type Running, type SystemId, startSystem } from './systems.ts';

/** The number of concurrent connections. */
export const connections = 64;

/** The warm-up time of each measurement. */
const warmUpMs = 500;

/** The minimum warm-up time of each system before the first round. */
const firstWarmUpMs = 5_000;

/** The minimum number of requests of that warm-up: what few requests use, such as writes with a key, is compiled later. */
const firstWarmUpRequests = 8_000;

/** One response in this many is compared completely. */
const sampleEvery = 64;

/** The measurements of one system with one workload, one per round. */
export interface Series {
  readonly workload: WorkloadId;
  readonly system: SystemId;
  readonly measurements: Measurement[];
}

/** How to measure. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Whether every response is compared, without a warm-up. */
  readonly check: boolean;
  /** The folder of another build of the gateway, if it is one of the systems. */
  readonly previous?: string | undefined;
  readonly logProgress: (text: string) => void;
}

/** Measures systems with one workload on one database, interleaved. @throws Error when a response is wrong. */
export async function measureWorkload(
  generator: Generator,
  database: BenchDatabase,
  workload: WorkloadId,
  systems: readonly SystemId[],
  plan: Plan,
): Promise<Series[]> {
  const { rounds, seconds, check, previous, logProgress } = plan;
  let creations = 0;

  const measure = async (running: Running, label: string, measureMs: number): Promise<Measurement> => {
    const { system, port, pid } = running;
    if (workloads[workload].writes) await tidy(database);
    const text = `${workload}  ${label}  ${system} on ${database.groups} groups`;
    logProgress(text);
    const { name, credentials, serverPid: databasePid } = database;
    const warmUp = check ? 0 : warmUpMs;
    const every = system === 'baseline' ? 0 : check ? 1 : sampleEvery;
    const target = { database: name, workload, connections, credentials, port, pid, databasePid };
    const times = { warmUpMs: warmUp, measureMs, sampleEvery: every };
    const measurement = await generator.run({ ...target, ...times }).catch((error: Error) => {
      throw new Error(`${system} failed: ${error.message}`);
    });
    logProgress(`${text}  ${Math.round(measurement.requestsPerSecond)} requests/s`);
    if (system !== 'baseline') creations += measurement.responses;
    return measurement;
  };
  /** Starts a system, and warms it up: just-in-time compilation, connections, the database's cache. */
  const start = async (system: SystemId): Promise<Running> => {
    logProgress(`${workload}: starting ${system}`);
    const running = await startSystem(system, { DATABASE_URL: database.url, WORKLOAD: workload }, plan);
    await probe(running, workload, database);
    for (let sent = 0; !check && sent < firstWarmUpRequests; ) {
      sent += (await measure(running, 'warming up', firstWarmUpMs)).responses;
    }
    return running;
  };

  const before = await countCreated(database);
  const series = systems.map((system) => ({ workload, system, measurements: [] as Measurement[] }));
  // Equal gateways differ by up to a tenth for as long as they run: rounds are independent only if each has its own.
  const areFresh = previous !== undefined;
  const started = new Map<SystemId, Running>();
  if (!areFresh) for (const system of systems) started.set(system, await start(system));
  for (let round = 1; round <= rounds; round += 1) {
    // A B C, B C A, C A B, so that other load on the machine affects all of them equally.
    const turn = round % series.length;
    for (const { system, measurements } of [...series.slice(turn), ...series.slice(0, turn)]) {
      const running = started.get(system) ?? (await start(system));
      measurements.push(await measure(running, `round ${round}/${rounds}`, seconds * 1_000));
      if (areFresh) await running.stop();
    }
  }
  for (const running of started.values()) await running.stop();

  const { writes } = workloads[workload];
  if (writes === 'group') await verifyCreated(database, before + creations);
  if (writes === 'token') await verifyTokens(generator, database);
  if (writes === 'properties') await verifyUpdates(generator, database);
  return series;
}

/** Cleans up, so that no system pays for the rows that the previous one wrote. */
async function tidy(database: BenchDatabase): Promise<void> {
  await database.query('vacuum analyze user_group, event, idempotency_record');
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
    const text = 'select token_hash, token_encrypted from user_group where team_id = $1';
    const [stored] = (await database.query<TokenColumns>(text, [firstTeamId + index])).map(tokenOf);
    if (stored !== token) throw new Error(`a rotation returned ${token}, but ${stored} is stored`);
  }
}

async function verifyUpdates(generator: Generator, database: BenchDatabase): Promise<void> {
  const updated = (await generator.recall({ database: database.name, count: 2_000 })).filter(({ revision }) => revision > 0);
  if (updated.length === 0) throw new Error('none of the groups that were checked was updated');
  for (const { index, revision } of updated) {
    const text =
      "select name, properties->>'revision' as revision, updated_at > created_at as later from user_group where team_id = $1";
    const [stored] = await database.query<{ name: string; revision: string; later: boolean }>(text, [firstTeamId + index]);
    const isStored = stored?.name === `Name ${revision}` && stored.revision === String(revision) && stored.later;
    if (!isStored) throw new Error(`an update wrote ${revision}, but ${JSON.stringify(stored)} is stored`);
  }
}
