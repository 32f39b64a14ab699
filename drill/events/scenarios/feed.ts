import { setTimeout as pause } from 'node:timers/promises';
import { EventEnvironment } from '../../../src/generated/prisma/client.ts';
import type { Scenario, ScenarioContext } from '../../scenario.ts';
import { type Activity, startActivity } from '../activity.ts';
import { checkDelays, checkFollowers, readEvents } from '../check-followers.ts';
import { type Deployment, missingProgram, startDeployment } from '../deployment.ts';
import { type Follower, type FollowerOptions, startFollower } from '../followers.ts';

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
export async function runFaults(
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

/** Followers of the event feed through every fault, with synchronous replication: nothing is lost, so nothing may be missed. */
export const feedScenario: Scenario = {
  name: 'feed',
  summary: 'followers of the event feed, through kills of gateways and PostgreSQL and a failover that loses nothing',
  missing: missingProgram,
  async run(context) {
    const deployment = await startDeployment(context);
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
    await activity.check();
  },
};
