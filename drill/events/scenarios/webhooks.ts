import { EventEnvironment } from '../../../src/generated/prisma/client.ts';
import { startReceiver } from '../../../test/support/webhook-receiver.ts';
import { sendGraphQL } from '../../client.ts';
import type { Scenario, ScenarioContext } from '../../scenario.ts';
import { startActivity } from '../activity.ts';
import { readEvents, type StoredEvent } from '../check-followers.ts';
import { type Deployment, missingProgram, startDeployment } from '../deployment.ts';
import {
  type Endpoint,
  type EndpointOptions,
  forbiddenAddress,
  permittedNetworks,
  rebindingName,
  rebindingOptions,
  startEndpoint,
} from '../endpoints.ts';
import { runFaults } from './feed.ts';

/** Four of each of the three gateways. */
const maxInFlight = 12;

const metadata = 'http://169.254.169.254/latest/meta-data/';

const every = (count: number, number: number) => number % count === 0;

/** Endpoints that are well, and each kind that is not. */
const options: readonly EndpointOptions[] = [
  { name: 'well' },
  { name: '500', environments: ['Testing'], faultOf: (number) => (every(5, number) ? { status: 500 } : undefined) },
  {
    name: '429',
    environments: ['Customer'],
    faultOf: (number) => (every(6, number) ? { status: 429, headers: { 'retry-after': '3' } } : undefined),
  },
  { name: '410', environments: ['Testing'], faultOf: (number) => (number === 20 ? { status: 410 } : undefined) },
  {
    name: 'hangs',
    types: ['user_group.token_rotated'],
    faultOf: (number) => (every(10, number) && number <= 40 ? 'hang' : undefined),
  },
  { name: 'cuts', types: ['user_group.created'], faultOf: (number) => (every(5, number) ? 'cut' : undefined) },
  {
    name: 'redirects',
    types: ['user_group.updated'],
    faultOf: (number, forbiddenUrl) =>
      every(4, number) ? { status: 307, headers: { location: every(8, number) ? metadata : forbiddenUrl } } : undefined,
  },
  { name: 'rebinding', types: ['user_group.token_rotated'], host: rebindingName },
  { name: 'new secret', types: ['user_group.created'], environments: ['Customer'] },
];

const enumName = (text: string): string => text.replace('.', '_').toUpperCase();

/** Calls a mutation of webhooks. @returns its payload. @throws Error when it fails. */
async function mutate({ instance, port }: Deployment, name: string, selection: string, input: object, webhook?: string) {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const [declared, given] = webhook ? ['$webhook: ID!, ', 'webhook: $webhook, '] : ['', ''];
  const text = `mutation (${declared}$input: ${type}Input!) {
    result: ${name}(${given}input: $input) { ... on ${type}Payload { ${selection} } ... on Error { code message } } }`;
  const { json, text: body } = await sendGraphQL(port(), text, { input, webhook }, { token: instance.admin });
  const result = json?.data?.result;
  if (!result || result.code) throw new Error(`${name}: ${body}`);
  return result;
}

/** Creates a webhook. @returns its global ID. */
async function subscribe(
  deployment: Deployment,
  { url, types, environments, secrets, name }: Pick<Endpoint, 'url' | 'types' | 'environments' | 'secrets' | 'name'>,
): Promise<string> {
  const input = { url, types: types?.map(enumName), environments: environments?.map(enumName), description: name };
  const { webhook, secret } = await mutate(deployment, 'createWebhook', 'webhook { id } secret', input);
  secrets.push(secret);
  return webhook.id;
}

/** Whether an endpoint is to get an event. */
const takes = ({ types, environments = Object.values(EventEnvironment) }: EndpointOptions, event: StoredEvent): boolean =>
  environments.includes(event.environment) && (types?.includes(event.type) ?? true);

/** Deliveries to endpoints of every kind, through every fault. */
export const webhooksScenario: Scenario = {
  name: 'webhooks',
  summary: 'deliveries to endpoints that fail in every way, through the same faults; none is lost, none gets where it must not',
  missing: () =>
    process.platform === 'linux' ? missingProgram() : 'needs the addresses 127.0.0.2 and 127.0.0.3, which Linux has',
  async run(context) {
    const settings = { WEBHOOKS_ALLOWED_NETWORKS: permittedNetworks, NODE_OPTIONS: rebindingOptions };
    const deployment = await startDeployment(context, settings);
    const { query } = deployment;
    const endpoints = await Promise.all(options.map((each) => startEndpoint(context, each)));
    const ids = new Map<string, string>();
    for (const endpoint of endpoints) ids.set(endpoint.name, await subscribe(deployment, endpoint));
    const outside = await startForbidden(context, deployment);
    const [{ start } = {}] = await query(`select max(id)::text as start from event`);
    const activity = startActivity(context, deployment, { writers: 1, paceMs: 300 });
    await activity.more();
    const rotated = endpoints.find(({ name }) => name === 'new secret');
    const rotation = { id: ids.get('new secret'), overlapSeconds: 3_600 };
    rotated?.secrets.push((await mutate(deployment, 'rotateWebhookSecret', 'secret', rotation)).secret);
    await runFaults(deployment, activity);
    await activity.stop();

    for (const endpoint of endpoints) endpoint.heal();
    await mutate(deployment, 'updateWebhook', 'webhook { id }', { id: ids.get('410') ?? '', enabled: true });
    const table = (await readEvents(deployment)).filter(({ id }) => id > BigInt(String(start)));
    await untilDelivered(deployment, endpoints, table);
    checkEndpoints(context, endpoints, table);
    await checkRebinding(context, deployment);
    await outside.check();
    await activity.check();
  },
};

/** Webhooks whose addresses must not be reached: by a name, and by an address that nothing checked when it was stored. */
async function startForbidden(context: ScenarioContext, deployment: Deployment) {
  const receivers = await Promise.all(['127.0.0.1', forbiddenAddress].map((address) => startReceiver(undefined, address)));
  for (const receiver of receivers) context.onEnd(() => receiver.close());
  const [local, stored] = receivers.map(({ port }) => port);
  const webhook = { name: 'forbidden', types: ['user_group.created'], secrets: [] };
  await subscribe(deployment, { ...webhook, url: `http://localhost:${local}/` });
  await subscribe(deployment, { ...webhook, url: 'http://elsewhere.test/' });
  await deployment.query(`update webhook set url = 'http://${forbiddenAddress}:${stored}/' where url = 'http://elsewhere.test/'`);
  return {
    async check() {
      const tried =
        await deployment.query(`select webhook_id, count(*)::int as count from webhook_delivery join webhook on webhook.id = webhook_id
        where description = 'forbidden' and attempts > 0 and response_status is null and error like '%not public%' group by webhook_id`);
      const connections = receivers.reduce((sum, receiver) => sum + receiver.connections(), 0);
      context.figure(
        `${connections} connections to forbidden addresses in ${tried.map(({ count }) => count).join(' and ')} deliveries`,
      );
      context.expect(tried.length === 2, 'no delivery to a forbidden address was refused');
      context.expect(connections === 0, `${connections} connections were made to forbidden addresses`);
    },
  };
}

/** Checks that the name led to the forbidden address sometimes: its endpoint never fails. */
async function checkRebinding({ figure, expect }: ScenarioContext, { query }: Deployment): Promise<void> {
  const [{ repeated } = {}] = await query(
    `select count(*)::int as repeated from webhook_delivery join webhook on webhook.id = webhook_id
    where description = 'rebinding' and attempts > 1`,
  );
  figure(`${repeated} deliveries repeated because the name led to the forbidden address`);
  expect(Number(repeated) > 0, 'the name that changes never led to the forbidden address');
}

/** The events that an endpoint has not accepted. */
const missingFrom = (endpoint: Endpoint, table: readonly StoredEvent[]): StoredEvent[] =>
  table.filter((event) => takes(endpoint, event) && !endpoint.accepted.has(event.globalId));

/** Waits until each endpoint has its events. Deliveries that are due later are due now, but those that may be in flight. */
async function untilDelivered(
  { query }: Deployment,
  endpoints: readonly Endpoint[],
  table: readonly StoredEvent[],
): Promise<void> {
  const hasten = `update webhook_delivery set next_attempt_at = now()
    where status = 'PENDING' and next_attempt_at > now() and last_attempt_at < now() - interval '16 seconds'`;
  const missing = () => endpoints.reduce((sum, endpoint) => sum + missingFrom(endpoint, table).length, 0);
  for (const deadline = performance.now() + 120_000; missing() > 0 && performance.now() < deadline; ) {
    await query(hasten);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

function checkEndpoints(
  { figure, expect }: ScenarioContext,
  endpoints: readonly Endpoint[],
  table: readonly StoredEvent[],
): void {
  const sums = { requests: 0, faults: 0, accepted: 0, lost: 0, twice: 0, invalid: 0, mostInFlight: 0, connections: 0 };
  for (const endpoint of endpoints) {
    const { name, accepted, counts, forbidden } = endpoint;
    const lost = missingFrom(endpoint, table);
    const repeated = [...accepted.values()].reduce((sum, count) => sum + count - 1, 0);
    expect(lost.length === 0, `${name}: ${lost.length} events were not delivered, such as ${lost[0]?.globalId}`);
    expect(counts.invalid === 0, `${name}: ${counts.invalid} deliveries without a valid signature`);
    expect(counts.mostInFlight <= maxInFlight, `${name}: ${counts.mostInFlight} deliveries in flight`);
    expect(accepted.size > 0, `${name}: nothing was delivered`);
    expect(endpoint.faultOf === undefined || counts.faults > 0, `${name}: it had no fault`);
    expect(forbidden.connections() === 0, `${name}: ${forbidden.connections()} connections to ${forbiddenAddress}`);
    sums.requests += counts.requests;
    sums.faults += counts.faults;
    sums.accepted += accepted.size;
    sums.lost += lost.length;
    sums.twice += repeated;
    sums.invalid += counts.invalid;
    sums.mostInFlight = Math.max(sums.mostInFlight, counts.mostInFlight);
    sums.connections += forbidden.connections();
  }
  figure(
    `${table.length} events, ${endpoints.length} endpoints: ${sums.accepted} accepted, ${sums.lost} lost, ${sums.twice} twice`,
  );
  figure(
    `${sums.requests} attempts, ${sums.faults} with a fault, ${sums.invalid} without a valid signature, at most ${sums.mostInFlight} in flight`,
  );
  figure(`${sums.connections} connections by redirects and changing names`);
}
