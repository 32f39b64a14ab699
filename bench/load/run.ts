import { createHistogram, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Conversation, converse } from './connection.ts';
import { cpuMicroseconds, familyCpuMicroseconds, rssMiB } from './process-usage.ts';
import type { Measurement, Run } from './protocol.ts';
import { environmentOf, type Groups } from './rows.ts';
import { hole, revisionHole, type Workload, workloads } from './workloads.ts';

/** How often the server's memory is read. */
const memoryIntervalMs = 100;

/** What all connections of a measurement share. */
interface Tally {
  stopping: boolean;
  responses: number;
  compared: number;
  latencies: ReturnType<typeof createHistogram>;
}

/** Loads a server for a while and measures it. @throws Error when a response is wrong. */
export async function measure(run: Run, groups: Groups): Promise<Measurement> {
  const tally: Tally = { stopping: false, responses: 0, compared: 0, latencies: createHistogram({ figures: 3 }) };
  const connections = Array.from({ length: run.connections }, () => converse(run.port, newConversation(run, groups, tally)));
  const all = Promise.all(connections);
  all.catch(() => {}); // reported below

  await Promise.race([sleep(run.warmUpMs), all]);
  tally.latencies.reset();
  const before = { at: performance.now(), ...usage(run), own: process.cpuUsage() };
  let peak = rssMiB(run.pid);
  const memory = setInterval(() => {
    const now = rssMiB(run.pid);
    if (now !== undefined && (peak === undefined || now > peak)) peak = now;
  }, memoryIntervalMs);
  await Promise.race([sleep(run.measureMs), all]).finally(() => clearInterval(memory));

  const elapsedMs = performance.now() - before.at;
  const requests = tally.latencies.count;
  const after = usage(run);
  const each = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : (to - from) / requests;
  const own = process.cpuUsage(before.own);
  const [p50, p99] = [tally.latencies.percentile(50), tally.latencies.percentile(99)];
  tally.stopping = true;
  await all; // requests in flight are completed and checked too
  if (requests === 0) throw new Error('there was no response');
  return {
    requestsPerSecond: (requests / elapsedMs) * 1_000,
    p50Ms: p50 / 1_000,
    p99Ms: p99 / 1_000,
    cpuMicrosecondsPerRequest: each(before.cpu, after.cpu),
    databaseMicrosecondsPerRequest: each(before.database, after.database),
    rssMiB: peak,
    generatorLoad: (own.user + own.system) / 1_000 / elapsedMs,
    responses: tally.responses,
    compared: tally.compared,
  };
}

function usage({ pid, databasePid }: Run): { cpu: number | undefined; database: number | undefined } {
  return { cpu: cpuMicroseconds(pid), database: databasePid === undefined ? undefined : familyCpuMicroseconds(databasePid) };
}

/** The requests of one connection: one buffer, into which each request's API token and key are written. */
function newConversation(run: Run, groups: Groups, tally: Tally): Conversation {
  const workload = workloads[run.workload];
  const { request, credentialAt, keysAt, revisionsAt, idempotencyKeyAt } = template(workload, run);
  const credentials = { Customer: secretsOf(run, 'Customer'), Testing: secretsOf(run, 'Testing') };
  const expectedLength = workload.specimen.length;
  let subject = 0;
  let sentAt = 0;
  return {
    next() {
      if (tally.stopping) return undefined;
      subject = workload.next(groups);
      const secrets = credentials[environmentOf(subject)];
      secrets[Math.floor(Math.random() * secrets.length)]?.copy(request, credentialAt);
      for (const at of keysAt) workload.writeKey(groups, subject, request, at);
      for (const at of revisionsAt) request.write(String(groups.revision(subject)), at, 'latin1');
      if (idempotencyKeyAt >= 0) request.write(nextIdempotencyKey(), idempotencyKeyAt, 'latin1');
      sentAt = performance.now();
      return request;
    },
    onResponse(status, body) {
      tally.latencies.record(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
      tally.responses += 1;
      if (run.sampleEvery > 0) {
        // Some servers end their responses with a line feed.
        const excess = body.length - expectedLength - workload.longer(subject);
        if (status !== 200 || excess < 0 || excess > 1) throw wrongResponse(run, status, body);
        if (tally.responses % run.sampleEvery === 0) {
          tally.compared += 1;
          const response: unknown = JSON.parse(body.toString('utf8'));
          const expected = workload.expected(groups, subject, response);
          if (!isDeepStrictEqual(response, expected)) throw wrongResponse(run, status, body, expected);
        }
        workload.settle?.(groups, subject, body);
      } else if (status !== 200 || body.length !== expectedLength) throw wrongResponse(run, status, body);
      groups.release(subject);
    },
  };
}

function secretsOf({ credentials }: Run, environment: string): Buffer[] {
  return credentials.filter((one) => one.environment === environment).map(({ secret }) => Buffer.from(secret, 'latin1'));
}

/** The placeholder of the `Idempotency-Key` in a head. */
const idempotencyKeyHole = '\u0002';

/** A request, and where its variable parts begin. */
interface Template {
  readonly request: Buffer;
  readonly credentialAt: number;
  readonly keysAt: readonly number[];
  readonly revisionsAt: readonly number[];
  /** -1 without such a header. */
  readonly idempotencyKeyAt: number;
}

/** How many digits the number of an update has. */
const revisionLength = 7;

/** The length of an `Idempotency-Key`, that of a UUID. */
const idempotencyKeyLength = 36;

/** How many of them were sent: no two requests have the same one. */
let idempotencyKeys = 0;

const nextIdempotencyKey = (): string => String(++idempotencyKeys).padStart(idempotencyKeyLength, '0');

function template(workload: Workload, run: Run): Template {
  const secret = run.credentials[0]?.secret ?? '';
  const body = workload.body
    .replaceAll(hole, hole.repeat(workload.keyLength))
    .replaceAll(revisionHole, revisionHole.repeat(revisionLength));
  const head = [
    `${workload.method} ${workload.path} HTTP/1.1`,
    `Host: 127.0.0.1:${run.port}`,
    `Authorization: Token ${secret}`,
    'Accept: application/json',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(workload.isIdempotent ? [`Idempotency-Key: "${idempotencyKeyHole.repeat(idempotencyKeyLength)}"`] : []),
  ].join('\r\n');
  const text = `${head}\r\n\r\n${body}`;
  return {
    request: Buffer.from(text, 'latin1'),
    credentialAt: text.indexOf(secret),
    keysAt: placesOf(hole, workload.keyLength, text),
    revisionsAt: placesOf(revisionHole, revisionLength, text),
    idempotencyKeyAt: text.indexOf(idempotencyKeyHole),
  };
}

function placesOf(part: string, length: number, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + length)) places.push(at);
  return places;
}

function wrongResponse({ workload }: Run, status: number, body: Buffer, expected?: unknown): Error {
  const wanted = expected === undefined ? `like ${workloads[workload].specimen}` : JSON.stringify(expected);
  return new Error(
    `a wrong response to ${workload}: ${status} ${body.toString('utf8').slice(0, 1_000)}\nexpected: 200 ${wanted}`,
  );
}
