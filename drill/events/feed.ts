import { setTimeout as pause } from 'node:timers/promises';
import { EventEnvironment } from '../../src/generated/prisma/client.ts';
import { startReceiver } from '../../test/support/webhook-receiver.ts';
import { sendGraphQL } from '../client.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { type Activity, startActivity } from './activity.ts';
import { checkDelays, checkFollowers, readEvents, type StoredEvent } from './check-followers.ts';
import { type Deployment, missingProgram, startDeployment } from './deployment.ts';
import { type Follower, type FollowerOptions, startFollower } from './followers.ts';

/** How long everything runs before the first fault, to measure delays. */
const calmMs = 15_000;

/** Readers of all events and of some, which wait and which do not, with admin's API token and with others. */
function startFollowers(context: ScenarioContext, { instance, tokens, port }: Deployment): Follower[] {
  const testing = { token: tokens.testing, environments: ['Testing'] } as const;
  const admin = { token: instance.admin, environments: Object.values(EventEnvironment) } as const;
  const options: FollowerOptions[] = [
    { name: 'GraphQL, waiting', ...admin, api: 'GraphQL', limit: 100, waitSeconds: 8 },
    { name: 'GraphQL, polling small pages', ...admin, api: 'GraphQL', limit: 7, waitSeconds: 0 },
    { name: 'REST, waiting', ...testing, api: 'REST', limit: 50, waitSeconds: 2 },
    { name: 'REST, polling', ...admin, api: 'REST', limit: 100, waitSeconds: 0 },
    { name: 'REST, one type, waiting', ...testing, api: 'REST', types: ['user_group.updated'], limit: 20, waitSeconds: 8 },
    { name: 'GraphQL, one type', ...testing, api: 'GraphQL', types: ['user_group.token_rotated'], limit: 100, waitSeconds: 1 },
    {
      name: 'GraphQL, other environment',
      token: tokens.customer,
      environments: ['Customer'],
      api: 'GraphQL',
      types: ['user_group.created', 'user_group.token_rotated'],
      limit: 30,
      waitSeconds: 5,
    },
  ];
  return options.map((each) => startFollower(port, each, context));
}

/** Kills each gateway, crashes PostgreSQL, and fails over, with activity between. */
async function runFaults(
  { untilReady, killGateway, crashPrimary, failOver, query }: Deployment,
  { more }: Activity,
): Promise<void> {
  const faults = [() => killGateway(0), () => killGateway(1), crashPrimary, () => killGateway(2), failOver, () => killGateway(0)];
  for (const fault of faults) {
    await fault();
    await untilReady();
    await more().catch(async (error: Error) => {
      const [row] = await query(`select (select count(*) from pg_stat_replication where state = 'streaming') as standbys,
        (select count(*) from pg_stat_activity where wait_event = 'SyncRep') as waiting`);
      throw new Error(`${error.message} ${row?.['standbys']} standbys follow; ${row?.['waiting']} commits wait for one.`);
    });
  }
}

/** A webhook for every event, to an endpoint that refuses every fifth delivery. */
async function subscribe(context: ScenarioContext, { instance, port, query }: Deployment) {
  const receiver = await startReceiver((response, _, number) => void response.writeHead(number % 5 === 0 ? 500 : 204).end());
  context.onEnd(() => receiver.close());
  const text = `mutation ($url: String!) { createWebhook(input: { url: $url }) { ... on CreateWebhookPayload { webhook { id } } } }`;
  await sendGraphQL(port(), text, { url: receiver.url }, { token: instance.admin });
  return {
    /** Waits until the endpoint has got each event that came later. Deliveries that are due later are due now. */
    async check(table: readonly StoredEvent[]) {
      const missing = () => {
        const got = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
        return table.filter(({ globalId }) => !got.has(globalId));
      };
      const hasten = `update webhook_delivery set next_attempt_at = now()
        where status = 'PENDING' and next_attempt_at > now() and last_attempt_at < now() - interval '16 seconds'`;
      for (const deadline = performance.now() + 120_000; missing().length > 0 && performance.now() < deadline; await pause(1_000))
        await query(hasten);
      context.figure(`${receiver.received.length} deliveries to a webhook, ${missing().length} events without one`);
      context.expect(missing().length === 0, `events were not delivered, such as ${missing()[0]?.globalId}`);
    },
  };
}

/** Followers of the feed and a webhook, through every fault. Replication is synchronous, so that nothing may be missed. */
export const feedScenario: Scenario = {
  name: 'feed',
  summary:
    'followers of the event feed and a webhook, through kills of gateways and PostgreSQL and a failover that loses nothing',
  missing: missingProgram,
  async run(context) {
    const deployment = await startDeployment(context, { WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8' });
    const webhook = await subscribe(context, deployment);
    const [{ start } = {}] = await deployment.query('select max(id)::text as start from event');
    const followers = startFollowers(context, deployment);
    const activity = startActivity(context, deployment, { writers: 2, paceMs: 20 });
    await pause(calmMs);
    const faultsAtMs = performance.now();
    await runFaults(deployment, activity);
    await activity.stop();
    const table = await readEvents(deployment);
    await Promise.all(followers.map((follower) => follower.finish()));
    checkFollowers(context, followers, table);
    checkDelays(context, followers, activity.commits, faultsAtMs);
    await webhook.check(table.filter(({ id }) => id > BigInt(String(start))));
    await activity.check();
  },
};
