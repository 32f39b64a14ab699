import { createDrill } from '../drill.ts';
import { runScenarios } from '../scenario.ts';
import { feedScenario } from './scenarios/feed.ts';
import { webhooksScenario } from './scenarios/webhooks.ts';

/** The event feed and webhooks, through every fault. */
export const eventsDrill = createDrill({
  name: 'events',
  summary: 'follows the event feed and takes webhooks through kills and failovers, and checks that no event is missed',
  description: `Runs three gateways behind PgBouncer on a primary and a standby, with writers, imports and transactions that stay open. Lets
faults happen, and checks that every follower of the feed gets every event, once and in order, and every endpoint each event
at least once, and that no delivery gets to an address that is not permitted. Prints a table in Markdown. Takes about four
minutes. Without PgBouncer nothing runs.`,
  scenarios: [feedScenario, webhooksScenario],
  run: runScenarios,
});
