import { createDrill } from '../choose-scenarios.ts';
import { runScenarios } from '../run-scenarios.ts';
import { feedScenario } from './scenarios/feed.ts';
import { lossScenario } from './scenarios/loss.ts';
import { webhooksScenario } from './scenarios/webhooks.ts';

/** The event feed and webhooks, through every fault. */
export const eventsDrill = createDrill({
  name: 'events',
  summary: 'follows the event feed through kills and failovers, and checks that no event is missed',
  description: `Runs three gateways behind PgBouncer on a primary and a standby, with writers, imports and transactions that stay open, lets
faults happen, and checks that every reader gets every event, once and in order. Prints a table in Markdown. Takes about
five minutes.`,
  scenarios: [feedScenario, lossScenario, webhooksScenario],
  run: runScenarios,
});
