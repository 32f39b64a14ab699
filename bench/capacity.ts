import { hashSecret, issueToken } from '../src/tokens.ts';
import { type BenchDatabase, startServer } from './database.ts';
import { type Generator, openGenerator } from './generator.ts';
import { familyCpuMicroseconds } from './load/process-usage.ts';
import { grid } from './report.ts';
import { median, medianOf } from './statistics.ts';
import { type Running, startSystem, stopAll } from './systems.ts';

/** One arrangement of processes under load. */
interface Setup {
  readonly name: string;
  readonly instances: number;
  /** Connections of all load generators together. */
  readonly connections: number;
}

const setups: readonly Setup[] = [
  { name: '1 instance', instances: 1, connections: 1 },
  { name: '1 instance', instances: 1, connections: 4 },
  { name: '1 instance', instances: 1, connections: 16 },
  { name: '1 instance', instances: 1, connections: 64 },
  { name: '1 instance', instances: 1, connections: 256 },
  { name: '2 instances', instances: 2, connections: 64 },
  { name: '3 instances', instances: 3, connections: 64 },
];

/** The one that others are compared with. */
const reference = 3;

const groups = 100_000;
const rounds = 5;
const warmUpMs = 500;
const measureMs = 1_500;

/** What was measured in one round. */
interface Sample {
  readonly requestsPerSecond: number;
  readonly gatewayMicroseconds: number | undefined;
  readonly databaseMicroseconds: number | undefined;
  readonly keysPerStatement: number;
  readonly p99Ms: number;
}

/**
 * Measures what a look-up costs gateways and database with several instances and numbers of connections, interleaved.
 * All of them share the processors of one machine, so requests per second do not show how several machines scale.
 *
 * @param interrupted rejects when the run is to end.
 */
export async function measureCapacity(
  print: (text: string) => void,
  logProgress: (text: string) => void,
  interrupted: Promise<never>,
): Promise<void> {
  const server = await startServer();
  try {
    logProgress(`seeding ${groups} groups`);
    const database = await server.seed('bench', groups);
    const samples = await Promise.race([measureSetups(database, logProgress), interrupted]);
    print(`\ngql-token, ${groups} groups, medians of ${rounds} rounds of ${measureMs / 1_000} s\n\n${table(samples)}`);
  } finally {
    await stopAll();
    await server.close();
  }
}

async function measureSetups(database: BenchDatabase, logProgress: (text: string) => void): Promise<Sample[][]> {
  const secret = issueToken('apiToken');
  await database.query(
    "insert into api_token (name, secret_hash, environment_tag, scopes) values ('metrics', $1, 'Customer', '{metrics:read}')",
    [Buffer.from(hashSecret(secret), 'hex')],
  );
  const generators = await openGenerators(database, Math.max(...setups.map(({ instances }) => instances)));
  const start = () => startSystem('gateway', { DATABASE_URL: database.url });
  const instances = [await start(), await start(), await start()];
  const samples = setups.map((): Sample[] => []);
  // The first round is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < setups.length; turn += 1) {
      const which = (turn + round) % setups.length;
      const setup = setups[which] as Setup;
      logProgress(`round ${round}/${rounds}  ${setup.name}, ${setup.connections} connections`);
      const used = instances.slice(0, setup.instances);
      const sample = await measure(setup, used, generators, database, secret);
      if (round > 0) samples[which]?.push(sample);
    }
  }
  return samples;
}

async function openGenerators(database: BenchDatabase, count: number): Promise<Generator[]> {
  const generators = Array.from({ length: count }, openGenerator);
  for (const generator of generators) await generator.learn(database.name, database.tokenFile);
  return generators;
}

async function measure(
  { connections }: Setup,
  gateways: readonly Running[],
  generators: readonly Generator[],
  { name, credentials, serverPid }: BenchDatabase,
  secret: string,
): Promise<Sample> {
  const read = async () => ({
    gateway: sum(gateways.map(({ pid }) => familyCpuMicroseconds(pid))),
    database: serverPid === undefined ? undefined : familyCpuMicroseconds(serverPid),
    batches: await Promise.all(gateways.map((gateway) => readBatches(gateway, secret))),
  });
  const before = await read();
  const measurements = await Promise.all(
    gateways.map(({ port, pid }, index) =>
      (generators[index] as Generator).run({
        database: name,
        workload: 'gql-token',
        port,
        pid,
        credentials,
        databasePid: undefined,
        connections: queueKey(connections, gateways.length, index),
        warmUpMs,
        measureMs,
        sampleEvery: 64,
      }),
    ),
  );
  const after = await read();
  const responses = measurements.reduce((total, one) => total + one.responses, 0);
  const each = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : (to - from) / responses;
  const grown = (part: 'keys' | 'statements') =>
    after.batches.reduce((total, one, index) => total + one[part] - (before.batches[index]?.[part] ?? 0), 0);
  return {
    requestsPerSecond: measurements.reduce((total, one) => total + one.requestsPerSecond, 0),
    gatewayMicroseconds: each(before.gateway, after.gateway),
    databaseMicroseconds: each(before.database, after.database),
    keysPerStatement: grown('keys') / grown('statements'),
    p99Ms: Math.max(...measurements.map(({ p99Ms }) => p99Ms)),
  };
}

/** How many of the connections a load generator gets, so that all of them are used. */
const queueKey = (connections: number, parts: number, index: number): number =>
  Math.floor((connections * (index + 1)) / parts) - Math.floor((connections * index) / parts);

/** The keys that a gateway has sent to the database so far, and in how many statements. */
async function readBatches({ port }: Running, secret: string): Promise<{ keys: number; statements: number }> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${secret}` } });
  const text = await response.text();
  const value = (name: string) => Number(new RegExp(`^gateway_database_batch_keys_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const read = { keys: value('sum'), statements: value('count') };
  if (Number.isNaN(read.keys + read.statements)) throw new Error(`/metrics has no batch sizes: ${response.status} ${text}`);
  return read;
}

const sum = (values: readonly (number | undefined)[]): number | undefined =>
  values.includes(undefined) ? undefined : (values as number[]).reduce((total, value) => total + value, 0);

function table(samples: readonly (readonly Sample[])[]): string {
  const base = samples[reference] ?? [];
  const rows = samples.map((each, index) => {
    const of = (figure: (sample: Sample) => number | undefined) => medianOf(each.map(figure))?.toFixed(1) ?? '–';
    const ratio = median(each.map((one, round) => one.requestsPerSecond / (base[round]?.requestsPerSecond ?? Number.NaN)));
    const { name, connections } = setups[index] as Setup;
    return [
      name,
      String(connections),
      of((one) => one.keysPerStatement),
      of((one) => one.gatewayMicroseconds),
      of((one) => one.databaseMicroseconds),
      of((one) => one.p99Ms),
      `${ratio.toFixed(2)} ×`,
    ];
  });
  return grid([['', 'connections', 'keys/statement', 'gateway µs', 'database µs', 'p99 ms', 'requests/s'], ...rows]);
}
