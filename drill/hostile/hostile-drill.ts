import { createDrill } from '../drill.ts';
import { runHostile } from './run-hostile.ts';
import { bodyScenarios } from './scenarios/bodies.ts';
import { costScenarios } from './scenarios/costs.ts';
import { docsConfigScenarios } from './scenarios/docs-config.ts';
import { documentScenarios } from './scenarios/documents.ts';
import { fairnessScenarios } from './scenarios/fairness.ts';
import { headerScenarios } from './scenarios/headers.ts';
import { introspectionScenarios } from './scenarios/introspection.ts';
import { numberScenarios } from './scenarios/numbers.ts';
import { restScenarios } from './scenarios/rest.ts';
import { slowScenarios } from './scenarios/slow.ts';

/** Hostile requests. */
export const hostileDrill = createDrill({
  name: 'hostile',
  summary: 'sends a gateway hostile requests, and checks that other callers are still served',
  description: `Starts a gateway with its own PostgreSQL, sends it hostile requests, and checks that /livez still responds within 250 ms,
other callers get their responses, memory stays below 400 MiB, and every error response says what to do.`,
  scenarios: [
    ...numberScenarios,
    ...introspectionScenarios,
    ...costScenarios,
    ...documentScenarios,
    ...bodyScenarios,
    ...restScenarios,
    ...docsConfigScenarios,
    ...headerScenarios,
    ...fairnessScenarios,
    ...slowScenarios,
  ],
  run: runHostile,
});
