import { createDrill } from '../drill.ts';
import { runScenarios } from '../scenario.ts';
import { scaleScenarios } from './scenarios.ts';

/** Topologies beyond one machine. */
export const scaleDrill = createDrill({
  name: 'scale',
  summary: 'runs several gateways on replicated PostgreSQL, ends servers under load, and checks that nothing is lost',
  description: `Runs the topologies of docs/scaling.md with real processes and the files of deploy/, ends servers under load, and checks that no
acknowledged write is lost, that no revoked API token is admitted, and that no gateway has to be started again. Prints a table in
Markdown. A topology whose programs are not installed is not run, and its line says what to install.`,
  scenarios: scaleScenarios,
  run: runScenarios,
});
