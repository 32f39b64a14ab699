import { createDrill } from '../choose-scenarios.ts';
import { runScenarios } from '../run-scenarios.ts';
import { accessScenario } from './access-scenario.ts';
import { secretsScenario } from './secrets-scenario.ts';

/** Who is let in, and where secrets get to. */
export const trustDrill = createDrill({
  name: 'trust',
  summary: 'sends every operation with unusual credentials, and searches everything that a gateway writes for secrets',
  description: `Sends every operation of a gateway with API tokens in wrong places, with pairs of scopes and of every environment, and checks who
is let in; sends, issues and stores secrets, and searches for them everywhere but in the responses that return them. Prints a table
in Markdown.`,
  scenarios: [accessScenario, secretsScenario],
  run: runScenarios,
});
