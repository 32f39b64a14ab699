import type { BenchDatabase } from './database.ts';
import { type TokenColumns, tokenOf } from './encryption.ts';
import { firstTeamId, type Group } from './load/groups.ts';
import { type Measurement, measure } from './load/run.ts';
import { type WorkloadId, workloads } from './load/workloads.ts';
import { type Running, type SystemId, startSystem } from './systems.ts';

/** The warm-up time of each measurement. */
const warmUpMs = 500;

/** The warm-up of each system before the first round: at least this long, and this many requests. */
const firstWarmUpMs = 5_000;
const firstWarmUpRequests = 8_000;

/** One response in this many is compared completely. */
const compareEvery = 64;

/** How many of the groups that were written are compared with the database. */
const verifiedGroups = 1_000;

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
  readonly previous: string | undefined;
  readonly logProgress: (text: string) => void;
}

/** Measures systems with one workload on one database, interleaved. @throws Error when a response is wrong. */
export async function measureWorkload(
  database: BenchDatabase,
  workload: WorkloadId,
  systems: readonly SystemId[],
  { rounds, seconds, check, previous, logProgress }: Plan,
): Promise<Series[]> {
  const { groups, url, query } = database;
  const { writes, expected } = workloads[workload];
  let responses = 0;

  const run = async ({ system, port, pid }: Running, label: string, measureMs: number): Promise<Measurement> => {
    // No system pays for the rows that the one before it wrote.
    if (writes) for (const text of ['vacuum analyze user_group, event, idempotency_record', 'checkpoint']) await query(text);
    const every = system === 'baseline' ? 0 : check ? 1 : compareEvery;
    const times = { warmUpMs: check ? 0 : warmUpMs, measureMs, compareEvery: every };
    const measurement = await measure({ database, workload, port, pid, ...times }).catch((error: Error) => {
      throw new Error(`${system} failed: ${error.message}`);
    });
    logProgress(`${workload}  ${label}  ${system}  ${Math.round(measurement.requestsPerSecond)} requests/s`);
    if (system !== 'baseline') responses += measurement.responses;
    return measurement;
  };
  /** Starts a system, and warms it up: compilation, connections, the database's cache. */
  const start = async (system: SystemId): Promise<Running> => {
    const response = JSON.stringify(expected(groups.at(-1) as Group, groups));
    const running = await startSystem(system, { DATABASE_URL: url, RESPONSE: response }, previous);
    for (let sent = 0; !check && sent < firstWarmUpRequests; ) sent += (await run(running, 'warm-up', firstWarmUpMs)).responses;
    return running;
  };

  const created = await countCreated(database);
  const series = systems.map((system): Series => ({ workload, system, measurements: [] }));
  // Equal gateways differ by up to a tenth for as long as they run. So builds are compared with new ones in each round.
  const started = new Map<SystemId, Running>();
  if (previous === undefined) for (const system of systems) started.set(system, await start(system));
  for (let round = 1; round <= rounds; round += 1) {
    // A B C, B C A, C A B, so that other load on the machine affects all of them equally.
    const turn = round % series.length;
    for (const { system, measurements } of [...series.slice(turn), ...series.slice(0, turn)]) {
      const running = started.get(system) ?? (await start(system));
      measurements.push(await run(running, `round ${round}/${rounds}`, seconds * 1_000));
      if (previous !== undefined) await running.stop();
    }
  }
  for (const running of started.values()) await running.stop();

  if (workload === 'rest-create') {
    const stored = (await countCreated(database)) - created;
    if (stored !== responses) throw new Error(`${responses} groups were reported as created, but ${stored} are stored.`);
  } else if (writes) await verifyGroups(database);
  return series;
}

async function countCreated({ query }: BenchDatabase): Promise<number> {
  const text = `select count(*)::int as count from user_group where provided_id like 'fresh-%'`;
  return (await query<{ count: number }>(text))[0]?.count ?? 0;
}

/** Compares some groups with what responses said is stored. */
async function verifyGroups({ groups, query }: BenchDatabase): Promise<void> {
  const updated = groups.filter(({ revision }) => revision > 0);
  const chosen = (updated.length > 0 ? updated : groups).slice(-verifiedGroups);
  const rows = await query<TokenColumns & { team_id: number; name: string; revision: string | null }>(
    `select team_id, name, properties->>'revision' as revision, token_hash, token_encrypted from user_group where team_id = any($1)`,
    [chosen.map(({ index }) => firstTeamId + index)],
  );
  for (const { team_id, name, revision, ...columns } of rows) {
    const group = groups[team_id - firstTeamId] as Group;
    if (tokenOf(columns) !== group.token) throw new Error(`${name} has another token than the last response to its rotation.`);
    if (group.revision > 0 && (name !== `Name ${group.revision}` || revision !== String(group.revision)))
      throw new Error(`${group.digits} has name ${name} and revision ${revision}; its last update wrote ${group.revision}.`);
  }
  if (rows.length !== chosen.length) throw new Error(`${chosen.length - rows.length} groups are missing.`);
}

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1] ?? Number.NaN, sorted[Math.floor(middle)] ?? Number.NaN];
  return (below + above) / 2;
}
