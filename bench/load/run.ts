import { createHistogram, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { BenchDatabase } from '../database.ts';
import { converse } from './connection.ts';
import type { Environment, Group } from './groups.ts';
import { cpuMicroseconds, familyCpuMicroseconds, rssMiB } from './process-usage.ts';
import { type WorkloadId, workloads } from './workloads.ts';

/** The number of concurrent connections. */
const connections = 64;

/** How often the server's memory is read. */
const memoryIntervalMs = 100;

/** What to measure. */
export interface Run {
  readonly database: BenchDatabase;
  readonly workload: WorkloadId;
  readonly port: number;
  /** The process of the server. */
  readonly pid: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** One response in this many is parsed and compared; 0 for a server with a constant response. */
  readonly compareEvery: number;
}

/** The result of one measurement. */
export interface Measurement {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the server's process, and of all of PostgreSQL's; `undefined` without /proc. */
  readonly cpuMicrosecondsPerRequest: number | undefined;
  readonly databaseMicrosecondsPerRequest: number | undefined;
  /** The peak memory of the server's process. */
  readonly rssMiB: number | undefined;
  /** The utilization of the load generator itself, 0 to 1: near 1, it is the bottleneck. */
  readonly generatorLoad: number;
  /** The number of responses, including those of the warm-up, and how many were compared completely. */
  readonly responses: number;
  readonly compared: number;
}

/** What all connections of a measurement share. */
interface Tally {
  isOver: boolean;
  responses: number;
  compared: number;
  readonly latencies: ReturnType<typeof createHistogram>;
}

/** Loads a server for a while and measures it. @throws Error when a response is wrong. */
export async function measure(run: Run): Promise<Measurement> {
  const { pid, database, warmUpMs, measureMs } = run;
  const tally: Tally = { isOver: false, responses: 0, compared: 0, latencies: createHistogram({ figures: 3 }) };
  const all = Promise.all(Array.from({ length: connections }, () => startConnection(run, tally)));
  all.catch(() => {}); // reported below

  await Promise.race([sleep(warmUpMs), all]);
  tally.latencies.reset();
  const usage = () => ({ server: cpuMicroseconds(pid), database: familyCpuMicroseconds(database.serverPid) });
  const [startedAt, before, own] = [performance.now(), usage(), process.cpuUsage()];
  let peak = rssMiB(pid);
  const memory = setInterval(() => {
    peak = Math.max(peak ?? 0, rssMiB(pid) ?? 0) || undefined;
  }, memoryIntervalMs);
  await Promise.race([sleep(measureMs), all]).finally(() => clearInterval(memory));

  const elapsedMs = performance.now() - startedAt;
  const [after, { user, system }] = [usage(), process.cpuUsage(own)];
  const { count } = tally.latencies;
  const each = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : (to - from) / count;
  const [p50, p99] = [tally.latencies.percentile(50), tally.latencies.percentile(99)];
  tally.isOver = true;
  await all; // requests in flight are completed and checked, too
  return {
    requestsPerSecond: (count / elapsedMs) * 1_000,
    p50Ms: p50 / 1_000,
    p99Ms: p99 / 1_000,
    cpuMicrosecondsPerRequest: each(before.server, after.server),
    databaseMicrosecondsPerRequest: each(before.database, after.database),
    rssMiB: peak,
    generatorLoad: (user + system) / 1_000 / elapsedMs,
    responses: tally.responses,
    compared: tally.compared,
  };
}

/** How many Idempotency-Keys were sent: no two requests have the same one. */
let keys = 0;

/** Sends requests on one connection until the measurement is over. */
function startConnection({ workload: name, database, port, compareEvery }: Run, tally: Tally): Promise<void> {
  const workload = workloads[name];
  const { groups, credentials } = database;
  const headOf = (secret: string) =>
    `${workload.method} ${workload.path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Token ${secret}\r\n` +
    'Accept: application/json\r\nContent-Type: application/json\r\n';
  const heads: Readonly<Record<Environment, readonly string[]>> = {
    Customer: credentials.Customer.map(headOf),
    Testing: credentials.Testing.map(headOf),
  };
  let group: Group;
  let sentAt = 0;
  const next = () => {
    if (tally.isOver) return undefined;
    group = workload.draw(groups);
    group.isBusy = true;
    const possible = heads[group.environment];
    const head = possible[Math.floor(Math.random() * possible.length)];
    const key = workload.isKeyed ? `Idempotency-Key: "${String(++keys).padStart(36, '0')}"\r\n` : '';
    const body = workload.body(group);
    sentAt = performance.now();
    return `${head}${key}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const onResponse = (status: number, body: Buffer) => {
    tally.latencies.record(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
    tally.responses += 1;
    if (status !== 200) throw new Error(`${name} got ${status}: ${body.toString().slice(0, 1_000)}`);
    if (compareEvery > 0) {
      if (tally.responses % compareEvery === 0) {
        tally.compared += 1;
        const response = JSON.parse(body.toString());
        const expected = workload.expected(group, groups, response);
        if (!isDeepStrictEqual(response, expected))
          throw new Error(`${name} got ${body.toString().slice(0, 1_000)}\ninstead of ${JSON.stringify(expected)}`);
      }
      workload.settle?.(group, body);
    }
    group.isBusy = false;
  };
  return converse(port, next, onResponse);
}
