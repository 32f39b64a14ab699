import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayError, UserGroupGateway } from '../../client/src/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Reply, sendUnchecked } from '../support/send-unchecked.ts';

/** What happens to a request on its way: it is not passed on; or it is, and something happens to the response. */
const faults = [
  'pass',
  'reset before',
  'busy',
  'busy proxy',
  'limited',
  'never sent',
  'reset after',
  'cut off',
  'cut short',
  'sent twice',
  'slow',
  'never answered',
] as const;
type Fault = (typeof faults)[number];

const timeoutMs = 1_000;

let gateway: TestGateway;
let client: UserGroupGateway;
/** With enough time to succeed on a busy machine. */
let patient: UserGroupGateway;
/** The faults of the next requests about each group. */
const planned = new Map<string, Fault[]>();
/** Requests that the gateway may still execute. */
const sent = new Map<string, Promise<unknown>[]>();
const proxy = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  const { by, input } = JSON.parse(body).variables;
  const { providedId } = by ?? input.by ?? input;
  const fault = planned.get(providedId)?.shift() ?? 'pass';
  if (fault === 'never sent') return;
  if (fault === 'reset before') return void request.socket.destroy();
  if (fault === 'busy') return respond(response, 503, '{"errors":[{"message":"busy","extensions":{"code":"UNAVAILABLE"}}]}');
  if (fault === 'busy proxy') return respond(response, 502, '<html>');
  if (fault === 'limited') return respond(response, 429, '{"errors":[{"message":"many","extensions":{"code":"RATE_LIMITED"}}]}');
  const { host, connection, ...headers } = request.headers as Record<string, string>;
  const pass = (): Promise<Reply> => {
    const passed = sendUnchecked(gateway.url, 'POST', request.url ?? '', { headers, body, agent: false });
    sent.set(providedId, [...(sent.get(providedId) ?? []), passed]);
    return passed;
  };
  const [{ status, text }] = await Promise.all(fault === 'sent twice' ? [pass(), pass()] : [pass()]);
  if (fault === 'never answered') return;
  if (fault === 'reset after') return void request.socket.destroy();
  if (fault === 'slow') return void setTimeout(() => respond(response, status, text), 50);
  if (fault === 'cut short') return respond(response, status, text.slice(0, -1));
  if (fault === 'cut off') {
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
    return void response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
  }
  respond(response, status, text);
});
const respond = (response: ServerResponse, status: number, text: string) => void response.writeHead(status).end(text);

const urlOfProxy = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

beforeAll(async () => {
  gateway = await startGateway();
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  client = new UserGroupGateway({ url: urlOfProxy(), apiToken: gateway.token, timeoutMs });
  patient = new UserGroupGateway({ url: urlOfProxy(), apiToken: gateway.token });
  await patient.userGroups.getOrCreate({ providedId: 'the first one, which takes longer' });
});
afterAll(() => {
  proxy.close();
  proxy.closeAllConnections();
  return gateway.close();
});

/**
 * Plans faults, and calls. @returns the result, and nothing after an error; fails for one without a type, or one that is late.
 */
async function callThrough<Result>(
  providedId: string,
  plan: readonly Fault[],
  call: () => Promise<Result>,
): Promise<Result | undefined> {
  planned.set(providedId, [...plan]);
  const startedAt = performance.now();
  const result = await call().catch((error: unknown) => error);
  expect(performance.now() - startedAt).toBeLessThan(timeoutMs + 5_000);
  await Promise.allSettled([...(sent.get(providedId) ?? [])]);
  if (!(result instanceof Error)) return result as Result;
  expect(result).toBeInstanceOf(GatewayError);
  expect(['NETWORK', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE']).toContain(
    (result as GatewayError).code,
  );
  return undefined;
}

const plan = fc.array(fc.constantFrom(...faults), { maxLength: 5 });
let created = 0;

/** Creates, changes and reads a group, each through faults. */
async function useGroup([creation, update, read]: readonly [Fault[], Fault[], Fault[]]): Promise<void> {
  created += 1;
  const providedId = `group ${created}`;
  const made = await callThrough(providedId, creation, () => client.userGroups.getOrCreate({ providedId }));
  if (made) expect(made).toMatchObject({ created: true, userGroup: { version: 1 } });
  planned.delete(providedId);
  await patient.userGroups.getOrCreate({ providedId });

  const change = { by: { providedId }, name: 'changed' };
  const changed = await callThrough(providedId, update, () => client.userGroups.update(change));
  const { version } = await gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId } });
  if (changed) expect([changed.userGroup.version, version]).toEqual([2, 2]);
  else expect([1, 2]).toContain(version);

  const found = await callThrough(providedId, read, () => client.userGroups.get({ providedId }));
  if (!found) return;
  expect(found.providedId).toBe(providedId);
  // A request that the client has given up may still be on its way.
  expect(changed ? [version] : [version, 2]).toContain(found.version);
}

test('whatever happens to requests: no change is made twice, every error is typed, no call takes longer than its limit', async () => {
  const groups = fc.array(fc.tuple(plan, plan, plan), { minLength: 10, maxLength: 10 });
  const property = fc.asyncProperty(groups, (plans) => Promise.all(plans.map(useGroup)).then(() => {}));
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
});
