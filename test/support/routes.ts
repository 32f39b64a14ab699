import { problem } from '../../src/http/problem.ts';
import type { Handler } from '../../src/http/types.ts';
import { createRoutes } from '../../src/routes.ts';

const handler: Handler = { handle: () => ({ status: 200, headers: {}, body: '' }), renderError: problem };

/** The route table of the gateway, with handlers that do nothing. */
export const routes = createRoutes({
  served: { console: true, playground: true },
  graphql: handler,
  user: handler,
  embedTokens: handler,
  events: handler,
  jwks: handler,
  introspection: handler,
  metrics: handler,
  printSdl: () => '',
  unreadiness: async () => undefined,
});
