import { createDrill } from '../drill.ts';
import { runScenarios } from '../scenario.ts';
import { feedScenario } from './feed.ts';

/** The event feed and webhooks, through every fault. */
export const eventsDrill = createDrill({
  name: 'events',
  summary: 'follows the event feed and takes webhooks through kills and a failover, and checks that no event is missed',
  description: `Runs three gateways behind PgBouncer on a primary and a standby, with writers, imports and transactions that stay open. Lets
faults happen, and checks that every follower of the feed gets every event, once and in order, and a webhook each event at least
once. Prints a table in Markdown. Takes about four minutes. Without PgBouncer nothing runs.`,
  scenarios: [feedScenario],
  run: runScenarios,
});
