import type { ErrorCode } from '../error-catalog.ts';

/** The paths that other parts of the gateway link to. */
export const paths = {
  contents: '/',
  graphql: '/graphql',
  schema: '/schema.graphql',
  console: '/console',
  user: '/api/user',
  embedTokens: '/api/embed-tokens',
  events: '/api/events',
  jwks: '/.well-known/jwks.json',
  introspection: '/oauth2/introspect',
  errors: '/docs/errors',
  docsConfig: '/docs/docs-config',
  docsConfigSchema: '/schemas/docs-config.json',
  apiReference: '/docs/api',
  openApi: '/openapi.json',
  metrics: '/metrics',
} as const;

/** The path of the page about an error code. */
export function errorCodePath(code: ErrorCode): string {
  return `${paths.errors}/${code}`;
}

/** The path of the page about a diagnostic code of the configuration file validator. */
export function docsConfigCodePath(code: string): string {
  return `${paths.docsConfig}/${code}`;
}
