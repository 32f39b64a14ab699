import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMiB } from '../../test/support/processes.ts';
import { sendGraphQL } from '../client.ts';
import { print } from '../drill.ts';
import { createEnds } from '../ends.ts';
import type { GatewayProcess } from '../gateway.ts';
import { Instance } from '../instance.ts';
import type { Totals } from '../summary.ts';
import { createConnections } from './connections.ts';
import type { HostileScenario, Target } from './hostile-scenario.ts';
import { describe, heading, type ScenarioResult, violations } from './report.ts';
import { sendRequest } from './request.ts';

/** How long a scenario may take by default. */
const scenarioTimeoutMs = 40_000;

/** Until the effects of a scenario are over. */
const settleMs = 200;

/** How long an ordinary request may take after a scenario. */
const ordinaryTimeoutMs = 10_000;

/** What the scenarios of a run have in common. */
interface Run {
  readonly instance: Instance;
  readonly tokens: Target['tokens'];
  readonly large: Target['large'];
}

/**
 * Sends each scenario's hostile requests to a real gateway and reports the results. After a failed scenario the next one gets a
 * new gateway, so that scenarios do not affect each other.
 *
 * @param totals takes the figures of the scenarios.
 * @param signal ends the run early; every process is stopped nevertheless.
 * @returns whether every scenario passed.
 */
export async function runHostile(scenarios: readonly HostileScenario[], totals: Totals, signal: AbortSignal): Promise<boolean> {
  const { end, ...ends } = createEnds();
  let passed = 0;
  let failed = 0;
  const hostile = { requests: 0, refused: 0, serverErrors: 0 };
  try {
    const instance = new Instance(ends);
    let gateway: GatewayProcess | undefined = await instance.start();
    const run = await prepare(instance, gateway.port);
    print(heading);
    for (const scenario of scenarios) {
      if (signal.aborted) break;
      gateway ??= await instance.start();
      const result = await runScenario(run, gateway, scenario, signal);
      const found = violations(scenario, result);
      print(describe(result, found));
      for (const { outcome } of result.replies) {
        hostile.requests += 1;
        if (outcome === '503') hostile.refused += 1;
        if (outcome === '5xx') hostile.serverErrors += 1;
      }
      if (found.length === 0) passed += 1;
      else {
        failed += 1;
        await gateway.stop();
        gateway = undefined;
      }
    }
  } finally {
    for (const failure of await end()) print(`    ${failure}`);
  }
  totals.hostile = hostile;
  totals.passed += passed;
  totals.failed += failed;
  return failed === 0 && passed === scenarios.length;
}

const creation = `mutation ($input: GetOrCreateUserGroupInput!) {
  getOrCreateUserGroup(input: $input) {
    ... on GetOrCreateUserGroupPayload { userGroup { id teamId token } }
    ... on Error { code message }
  }
}`;

/** Creates the API tokens and the group that the scenarios use. */
async function prepare(instance: Instance, port: number): Promise<Run> {
  const tokens = {
    admin: instance.admin,
    groups: await instance.createToken(port),
    validate: await instance.createToken(port, ['GROUPS_READ']),
  };
  // As large as its properties may be.
  const input = { providedId: 'large', properties: { text: 'x'.repeat(65_516) } };
  const { json, text } = await sendGraphQL(port, creation, { input }, { token: tokens.groups });
  const large = json?.data?.getOrCreateUserGroup?.userGroup;
  if (!large) throw new Error(`The group with large properties was not created: ${text}`);
  return { instance, tokens, large };
}

async function runScenario(
  run: Run,
  gateway: GatewayProcess,
  scenario: HostileScenario,
  signal: AbortSignal,
): Promise<ScenarioResult> {
  const { port, pid } = gateway;
  const connections = createConnections(port);
  const timeout = AbortSignal.timeout(scenario.timeoutMs ?? scenarioTimeoutMs);
  const over = AbortSignal.any([timeout, signal]);
  const send: Target['send'] = (options) => sendRequest(port, options, over);
  setMaxListeners(0, over); // each request listens
  const target: Target = {
    tokens: run.tokens,
    large: run.large,
    connections,
    send,
    // With this media type, a request that is not executed gets a 4xx.
    graphql: (params, token) => send({ body: params, token, headers: { accept: 'application/graphql-response+json' } }),
  };
  over.addEventListener('abort', () => connections.closeAll(), { once: true });

  await pause(settleMs);
  const memory = watchMemory(pid);
  const alreadyUnhandled = gateway.unhandled().length;
  const began = performance.now();
  const replies = await scenario.send(target);
  await pause(settleMs);
  const peakMiB = memory.readMiB();
  memory.stop();
  connections.closeAll();
  const works = gateway.ended() === undefined && (await ordinaryRequestWorks(port, run));
  const unhandled = gateway.unhandled().slice(alreadyUnhandled);
  const seconds = (performance.now() - began) / 1_000;
  return { name: scenario.name, replies, peakMiB, ended: gateway.ended(), unhandled, works, seconds };
}

async function ordinaryRequestWorks(port: number, { tokens, large }: Run): Promise<boolean> {
  const body = { query: `{ userGroup(by: {teamId: ${large.teamId}}) { name } }` };
  const { outcome } = await sendRequest(port, { body, token: tokens.groups }, AbortSignal.timeout(ordinaryTimeoutMs));
  return outcome === '2xx';
}

/** How often the memory is read, because the kernel's own peak cannot be reset everywhere. */
const sampleEveryMs = 100;

/** Watches the peak memory of a process from now on, in MiB; `undefined` without /proc. */
function watchMemory(pid: number) {
  const kernelPeak = resetKernelPeak(pid);
  let peak = residentMiB(pid);
  const sample = () => {
    const now = residentMiB(pid, kernelPeak ? 'VmHWM' : 'VmRSS');
    if (now !== undefined) peak = Math.max(peak ?? 0, now);
  };
  const timer = setInterval(sample, sampleEveryMs);
  return {
    readMiB() {
      sample();
      return peak;
    },
    stop: () => clearInterval(timer),
  };
}

/** Resets the kernel's peak. @returns whether that is permitted. */
function resetKernelPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}
