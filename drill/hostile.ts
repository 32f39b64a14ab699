import { setMaxListeners } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issueToken as generateToken } from '../src/domain/tokens.ts';
import { createConnections } from './connections.ts';
import { seed } from './data.ts';
import { endDatabase, type GatewayProcess, issueToken, startGateway } from './gateway.ts';
import { watchMemory } from './memory.ts';
import { type Prober, startProber } from './probe.ts';
import { describe, heading, type RowResult, violations } from './report.ts';
import { sendRequest } from './request.ts';
import type { Row, SeededData, Target } from './row.ts';
import type { Totals } from './summary.ts';

/** How long a row may take by default. */
const rowTimeoutMs = 40_000;

/** The minimum duration of probing, so that a quick row has some probes. */
const leastProbedMs = 400;

/** How long an ordinary request may take after a row. */
const ordinaryTimeoutMs = 10_000;

/** What the rows of a run have in common. */
interface Run {
  readonly dataDir: string;
  readonly tokens: Target['tokens'];
  /** Another caller's API token, which the probes use for look-ups. */
  readonly otherToken: string;
  readonly data: SeededData;
}

/** A gateway with its prober. */
interface Started {
  readonly gateway: GatewayProcess;
  readonly prober: Prober;
}

/**
 * Sends each row's hostile requests to a real gateway and reports the results. After a failed row the next one gets a new
 * gateway, so that rows do not affect each other.
 *
 * @param totals takes the figures of the rows.
 * @param signal ends the run early; every process is stopped nevertheless.
 * @returns whether every row passed.
 */
export async function runHostile(
  rows: readonly Row[],
  totals: Totals,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const dataDir = mkdtempSync(join(tmpdir(), 'user-group-gateway-drill-'));
  chmodSync(dataDir, 0o755); // run as root, PostgreSQL runs as another user
  let started: Started | undefined;
  let passed = 0;
  let failed = 0;
  const hostile = { requests: 0, refused: 0, serverErrors: 0 };
  try {
    const { run, gateway } = await prepare(dataDir);
    started = { gateway, prober: await startProber(gateway.port, run.otherToken, run.data.large.token) };
    print(heading);
    for (const row of rows) {
      if (signal.aborted) break;
      started ??= await start(run);
      const result = await runRow(run, started, row, signal);
      const found = violations(row, result);
      print(describe(result, found));
      for (const { outcome } of result.replies) {
        hostile.requests += 1;
        if (outcome === '503') hostile.refused += 1;
        if (outcome === '5xx') hostile.serverErrors += 1;
      }
      if (found.length === 0) passed += 1;
      else {
        failed += 1;
        await stop(started);
        started = undefined;
      }
    }
  } finally {
    if (started) await stop(started);
    await endDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
  print(`${passed} passed, ${failed} failed`);
  totals.hostile = hostile;
  totals.passed += passed;
  totals.failed += failed;
  return failed === 0 && passed === rows.length;
}

async function prepare(dataDir: string): Promise<{ run: Run; gateway: GatewayProcess }> {
  const admin = generateToken('apiToken');
  const gateway = await startGateway(dataDir, admin);
  try {
    const tokens = {
      admin,
      groups: issueToken(dataDir, admin, ['groups:read', 'groups:write']),
      validate: issueToken(dataDir, admin, ['config:validate']),
    };
    const otherToken = issueToken(dataDir, admin, ['groups:read']);
    return { run: { dataDir, tokens, otherToken, data: await seed(gateway.port, tokens.groups) }, gateway };
  } catch (error) {
    await gateway.stop();
    throw error;
  }
}

async function start({ dataDir, tokens, otherToken, data }: Run): Promise<Started> {
  const gateway = await startGateway(dataDir, tokens.admin);
  return { gateway, prober: await startProber(gateway.port, otherToken, data.large.token) };
}

async function stop({ gateway, prober }: Started): Promise<void> {
  await prober.stop();
  await gateway.stop();
}

async function runRow(run: Run, { gateway, prober }: Started, row: Row, signal: AbortSignal): Promise<RowResult> {
  const { port, pid } = gateway;
  const connections = createConnections(port);
  const timeout = AbortSignal.timeout(row.timeoutMs ?? rowTimeoutMs);
  const over = AbortSignal.any([timeout, signal]);
  const send: Target['send'] = (options) => sendRequest(port, options, over);
  setMaxListeners(0, over); // each request listens
  const target: Target = {
    ...{ port, tokens: run.tokens, data: run.data, connections, send },
    // With this media type, a request that is not executed gets a 4xx.
    graphql: (params, token) => send({ body: params, token, headers: { accept: 'application/graphql-response+json' } }),
    pause: (milliseconds) => pause(milliseconds, undefined, { signal: over }).catch(() => {}),
  };
  over.addEventListener('abort', () => connections.closeAll(), { once: true });

  await pause(leastProbedMs / 2); // until the effects of the previous row are over
  prober.reset();
  const memory = watchMemory(pid);
  const began = performance.now();
  const replies = await row.send(target);
  await pause(Math.max(leastProbedMs / 2, leastProbedMs - (performance.now() - began)));
  const probes = await prober.read();
  const peakMiB = memory.readMiB();
  memory.stop();
  connections.closeAll();
  const works = gateway.ended() === undefined && (await ordinaryRequestWorks(port, run));
  const unhandled = gateway.unhandled.splice(0); // with what was logged too late for the row before
  const seconds = (performance.now() - began) / 1_000;
  return { name: row.name, replies, probes, peakMiB, ended: gateway.ended(), unhandled, works, seconds };
}

async function ordinaryRequestWorks(port: number, { tokens, data }: Run): Promise<boolean> {
  const body = { query: `{ userGroup(by: {teamId: ${data.large.teamId}}) { name } }` };
  const { outcome } = await sendRequest(port, { body, token: tokens.groups }, AbortSignal.timeout(ordinaryTimeoutMs));
  return outcome === '2xx';
}
