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

/** How many gateways of each build are measured with `--previous`: equal ones differ by up to a tenth for as long as they run. */
const gatewaysOfEachBuild = 4;

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

/** One of several systems that are measured interleaved, and its database. */
interface Contender {
  /** Equal servers; each round measures the next one. */
  readonly servers: readonly [Running, ...Running[]];
  readonly database: BenchDatabase;
}

/** Measures systems with one workload on one database, interleaved. @throws Error when a response is wrong. */
export async function measureWorkload(
  generator: Generator,
  database: BenchDatabase,
  workload: WorkloadId,
  systems: readonly SystemId[],
  plan: Plan,
): Promise<Series[]> {
  const contenders: Contender[] = [];
  for (const system of systems) {
    plan.logProgress(`${workload}: starting ${system}`);
    const start = () => startSystem(system, { DATABASE_URL: database.url, WORKLOAD: workload }, plan);
    const servers: [Running, ...Running[]] = [await start()];
    const isCompared = plan.previous !== undefined && (system === 'gateway' || system === 'previous');
    while (isCompared && servers.length < gatewaysOfEachBuild) servers.push(await start());
    contenders.push({ servers, database });
    await probe(servers[0], workload, database);
  }
  const before = await countCreated(database);
  const measured = await measureInterleaved(generator, workload, contenders, plan);
  for (const running of contenders.flatMap(({ servers }) => servers)) await running.stop();

  const creations = measured.filter(({ system }) => system !== 'baseline').reduce((sum, { responses }) => sum + responses, 0);
  const { writes } = workloads[workload];
  if (writes === 'group') await verifyCreated(database, before + creations);
  if (writes === 'token') await verifyTokens(generator, database);
  if (writes === 'properties') await verifyUpdates(generator, database);
  return measured.map(({ system, measurements }) => ({ workload, system, measurements }));
}

/** Measures contenders interleaved: A B C, B C A, C A B, so that other load on the machine affects all of them equally. */
async function measureInterleaved(
  generator: Generator,
  workload: WorkloadId,
  contenders: readonly Contender[],
  { rounds, seconds, check, logProgress }: Plan,
): Promise<{ system: SystemId; measurements: Measurement[]; responses: number }[]> {
  const results = contenders.map(({ servers: [{ system }] }) => ({ system, measurements: [] as Measurement[], responses: 0 }));
  // Round 0 is not counted: just-in-time compilation, connections, the database's cache.
  for (let round = check ? 1 : 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const which = (turn + round) % contenders.length;
      const [contender, result] = [contenders[which], results[which]];
      if (!contender || !result) continue;
      const { servers, database } = contender;
      for (const running of round === 0 ? servers : [servers[(round - 1) % servers.length] ?? servers[0]]) {
        const label = `${workload}  ${round === 0 ? 'warming up' : `round ${round}/${rounds}`}  ${running.system} on ${database.groups} groups`;
        const run = {
          database: database.name,
          workload,
          connections,
          credentials: database.credentials,
          port: running.port,
          pid: running.pid,
          databasePid: database.serverPid,
          warmUpMs: check ? 0 : warmUpMs,
          measureMs: round === 0 ? firstWarmUpMs : seconds * 1_000,
          sampleEvery: running.system === 'baseline' ? 0 : check ? 1 : sampleEvery,
        };
        let requestsSent = 0;
        do {
          if (workloads[workload].writes) await tidy(database);
          logProgress(label);
          const measurement = await generator.run(run).catch((error: Error) => {
            throw new Error(`${running.system} failed: ${error.message}`);
          });
          logProgress(`${label}  ${Math.round(measurement.requestsPerSecond)} requests/s`);
          result.responses += measurement.responses;
          if (round > 0) result.measurements.push(measurement);
          requestsSent += measurement.responses;
        } while (round === 0 && requestsSent < firstWarmUpRequests);
      }
    }
  }
  return results;
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
