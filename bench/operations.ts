// `npm run bench -- --scale`: what each kind of operation takes with a number of groups.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BenchDatabase, type BenchServer, startServer } from './database.ts';
import { encryptionKey } from './encryption.ts';
import { newGroup } from './import.ts';
import { familyCpuMicroseconds } from './load/process-usage.ts';
import { digitsOf, Groups } from './load/rows.ts';
import { cursorOf } from './load/workloads.ts';
import { grid } from './report.ts';
import { startupTimes } from './startup.ts';
import { median } from './statistics.ts';
import { type Running, runCommand, startSystem, stopAll } from './systems.ts';

/** How long each request is repeated, and how often at least. */
const leastMs = 3_000;
const leastTimes = 9;

/** How often a restart is measured. */
const restarts = 5;

/** So many different numbers of seats have the groups. That of the first group has its environment only. */
const differentSeats = 90;

/** A kind of request: the GraphQL document with the values of one of them, and how many groups its response has or counts. */
interface Request {
  readonly name: string;
  next(): { readonly query: string; readonly variables?: object };
  readonly expected: number;
}

type Row = readonly string[];

/**
 * Measures requests one after the other on one gateway, then import, export, backup and restart, and prints a table. The bundled
 * PostgreSQL is used, as `npm start` does.
 *
 * @param interrupted rejects when the run is to end; what it started is then cleaned up.
 * @throws Error when a response is wrong; one that the gateway stopped because it took too long is part of the result.
 */
export async function measureOperations(
  groups: number,
  print: (text: string) => void,
  logProgress: (text: string) => void,
  interrupted: Promise<never>,
): Promise<void> {
  const server = await startServer();
  try {
    const rows = await Promise.race([measureAll(server, groups, logProgress), interrupted]);
    const header = ['', 'median', 'least', 'gateway CPU', 'database CPU', 'result'];
    logProgress('');
    print(`${groups} groups, one half in the environment of the caller, one connection\n${grid([header, ...rows])}\n`);
  } finally {
    await stopAll();
    await server.close();
  }
}

async function measureAll(server: BenchServer, groups: number, logProgress: (text: string) => void): Promise<Row[]> {
  logProgress(`seeding ${groups} groups`);
  const database = await server.seed('postgres', groups);
  const environment = { DATA_DIR: server.dataDir, ENCRYPTION_KEYS: encryptionKey };
  const gateway = await startSystem('gateway', environment);
  const rows: Row[] = [];
  const measureEach = async (requests: readonly Request[], suffix = '') => {
    for (const request of requests) {
      logProgress(request.name);
      rows.push(await measureRequest(gateway, database, { ...request, name: request.name + suffix }));
    }
  };
  const requests = requestsOf(database);
  await measureEach(requests);
  logProgress('creating an index of the property');
  await database.query(`create index seats on user_group using hash (((properties #> '{seats}')::jsonb))`);
  await database.query('analyze user_group');
  const indexed = requests.filter(({ name }) => /1 of 90|a property that no/.test(name));
  await measureEach(indexed, ', with an index of it');
  await database.query('drop index seats');

  const run = async (...args: string[]) => {
    logProgress(args.join(' '));
    const before = [process.pid, database.serverPid].map(cpuMs);
    const start = performance.now();
    const output = await runCommand(args, environment);
    const ms = performance.now() - start;
    const used = [process.pid, database.serverPid].map((pid, index) => cpuMs(pid) - (before[index] ?? 0));
    return { output, ms, used };
  };
  const perGroup = async (name: string, count: number, ...args: string[]) => {
    const { ms, used } = await run(...args);
    rows.push([
      name,
      `${((count / ms) * 1_000).toFixed(0)}/s`,
      '',
      ...used.map((one) => duration(one / count)),
      `${count} groups`,
    ]);
  };
  await perGroup('groups export', groups, 'groups', 'export', '--output', join(server.folder, 'export.ndjson'));
  const added = Math.floor(groups / 10);
  const file = join(server.folder, 'import.ndjson');
  await writeGroups(file, groups, groups + added);
  await perGroup('groups import', added, 'groups', 'import', file);
  const backup = await run('backup', join(server.folder, 'backup'));
  const size = /[\d,]+ MiB/.exec(backup.output)?.[0] ?? backup.output;
  rows.push(['backup', duration(backup.ms), '', ...backup.used.map(duration), size]);

  logProgress('restarting');
  await gateway.stop();
  await server.stop();
  const { times } = await startupTimes(environment, restarts);
  const restartMs = times.map((seconds) => seconds * 1_000);
  rows.push([
    'restart of gateway and PostgreSQL',
    duration(median(restartMs)),
    duration(Math.min(...restartMs)),
    '',
    '',
    'ready',
  ]);
  return rows;
}

/** The requests that are measured, each time with other values. */
function requestsOf({ tokenFile, groups }: BenchDatabase): Request[] {
  const tokens = new Groups(tokenFile);
  /** A group of the caller's environment that a page of others follows. */
  const draw = () => 2 * Math.floor(Math.random() * (groups / 2 - 21)) + 42;
  const seated = Math.ceil(groups / differentSeats);
  const fields = 'teamId providedId name token environmentTag';
  const lookUp = (by: string, key: string) => ({
    query: `query ($key: String!) { userGroup(by: {${by}: $key}) { ${fields} } }`,
    variables: { key },
  });
  const document = (selection: string, page: string) =>
    `query ($filter: UserGroupFilter, $after: String) { userGroups(${page}filter: $filter, after: $after) { ${selection} } }`;
  const list = (variables: object) => ({ query: document(`nodes { ${fields} }`, 'first: 20, '), variables });
  const search = (text: string) => list({ filter: { search: text } });
  const having = (property: string, equals: unknown) => ({ filter: { properties: [{ path: [property], equals }] } });
  const count = (variables: object) => ({ query: document('totalCount', ''), variables });
  return [
    { name: 'look-up by token', next: () => lookUp('token', tokens.token(draw())), expected: 1 },
    { name: 'look-up by provided id', next: () => lookUp('providedId', `group-${digitsOf(draw())}`), expected: 1 },
    { name: 'the newest 20', next: () => list({}), expected: 20 },
    { name: '20 far inside', next: () => list({ after: JSON.parse(cursorOf(draw())) }), expected: 20 },
    { name: 'search for seven digits', next: () => search(digitsOf(draw())), expected: 1 },
    { name: 'search for a full name', next: () => search(`Group ${digitsOf(draw())}`), expected: 1 },
    { name: 'search for a text that no group has', next: () => search('no such group'), expected: 0 },
    { name: '20 by a property that all have', next: () => list(having('country', 'BE')), expected: 20 },
    { name: '20 by a property that 1 of 90 has', next: () => list(having('seats', 10)), expected: Math.min(20, seated) },
    { name: 'a property that no group has', next: () => list(having('seats', 1)), expected: 0 },
    { name: 'totalCount', next: () => count({}), expected: Math.ceil(groups / 2) },
    { name: 'totalCount of a property that 1 of 90 has', next: () => count(having('seats', 10)), expected: seated },
  ];
}

/** Sends requests of a kind one after the other. */
async function measureRequest(gateway: Running, database: BenchDatabase, { name, next, expected }: Request): Promise<Row> {
  const caller = database.credentials.find(({ environment }) => environment === 'Customer');
  const sendOne = async () => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/graphql`, {
      method: 'POST',
      headers: { authorization: `Token ${caller?.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(next()),
    });
    const text = await response.text();
    const { data, errors } = JSON.parse(text);
    const stopped = errors?.[0].extensions.code === 'UNAVAILABLE' || data?.userGroups?.totalCount === null;
    const found = data?.userGroups?.totalCount ?? data?.userGroups?.nodes?.length ?? (data?.userGroup ? 1 : 0);
    if (!stopped && (errors || found !== expected)) throw new Error(`${name}: ${expected} expected, not ${text}`);
    return stopped;
  };
  // Unmeasured, so that statements are prepared.
  for (let time = 0; time < 3; time += 1) await sendOne();
  const times: number[] = [];
  let stops = 0;
  const pids = [gateway.pid, database.serverPid];
  const before = pids.map(cpuMs);
  for (const begin = performance.now(); times.length < leastTimes || performance.now() - begin < leastMs; ) {
    const start = performance.now();
    if (await sendOne()) stops += 1;
    times.push(performance.now() - start);
  }
  const used = pids.map((pid, index) => (cpuMs(pid) - (before[index] ?? 0)) / times.length);
  const result = stops > 0 ? `${stops} of ${times.length} stopped` : `${expected}`;
  return [name, ...[median(times), Math.min(...times), ...used].map(duration), result];
}

/** Writes groups that do not exist yet, as `groups export` does. */
function writeGroups(file: string, from: number, to: number): Promise<void> {
  function* lines() {
    for (let index = from; index < to; index += 1) yield `${JSON.stringify(newGroup(index, digitsOf(index)))}\n`;
  }
  return pipeline(lines(), createWriteStream(file));
}

/** The processor time of a process and its children so far; not a number where the system does not say. */
const cpuMs = (pid: number | undefined): number =>
  pid === undefined ? Number.NaN : (familyCpuMicroseconds(pid) ?? Number.NaN) / 1_000;

const duration = (ms: number): string => {
  if (Number.isNaN(ms)) return '–';
  if (ms < 1_000) return `${Number(ms.toPrecision(2))} ms`;
  return `${(ms / 1_000).toFixed(1)} s`;
};
