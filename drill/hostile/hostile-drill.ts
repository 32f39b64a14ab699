import { createDrill } from '../drill.ts';
import { runHostile } from './run-hostile.ts';
import { bodyScenarios } from './scenarios/bodies.ts';
import { docsConfigScenarios } from './scenarios/docs-config.ts';
import { documentScenarios } from './scenarios/documents.ts';
import { headerScenarios } from './scenarios/headers.ts';
import { introspectionScenarios } from './scenarios/introspection.ts';
import { slowScenarios } from './scenarios/slow.ts';

/** Hostile requests. */
export const hostileDrill = createDrill({
  name: 'hostile',
  summary: 'sends a gateway hostile requests, and checks that it survives them and serves others when they end',
  description: `Starts a gateway with its own PostgreSQL, sends it hostile requests, and checks that memory stays below 500 MiB, that other
callers are served when the flood ends, and that every error response says what to do.`,
  scenarios: [
    ...introspectionScenarios,
    ...documentScenarios,
    ...bodyScenarios,
    ...docsConfigScenarios,
    ...headerScenarios,
    ...slowScenarios,
  ],
  run: runHostile,
});
