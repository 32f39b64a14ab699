import { readFileSync } from 'node:fs';
import { type Code, docsConfigJsonSchema, isCode } from '@user-group-gateway/docs-config';
import { eventFeedMethods } from './audit-log/rest.ts';
import { diagnosticPage, diagnosticsPage } from './docs-config/pages.ts';
import { embedTokenMethods, introspectionMethods } from './embed-tokens/rest.ts';
import type { ErrorCode } from './error-catalog.ts';
import { GatewayError } from './errors.ts';
import { graphqlMethods } from './graphql/endpoint.ts';
import { inUtf8, mediaTypes, prefersHtml } from './http/media-types.ts';
import { apiReferencePage } from './http/pages/api-reference.ts';
import { errorCodePage, errorCodesPage, errorPages, isErrorCode } from './http/pages/errors.ts';
import { type PageContent, renderPage, renderScriptedPage, type ServedPages, startPage } from './http/pages/layout.ts';
import { paths } from './http/paths.ts';
import type { Handler, HttpRequest, HttpResponse, Route } from './http/types.ts';
import { isAssetName, readWebFile, serveAsset } from './http/web-files.ts';
import { packageRoot } from './package-root.ts';
import { userMethods, userSummary } from './user-groups/rest.ts';

/** The handlers that need the gateway's configuration or its database. */
export interface RouteDependencies {
  readonly graphql: Handler;
  readonly user: Handler;
  readonly embedTokens: Handler;
  readonly events: Handler;
  readonly jwks: Handler;
  readonly introspection: Handler;
  readonly metrics: Handler;
  /** Why the gateway is not ready to serve; nothing if it is. */
  readonly unreadiness: () => Promise<string | undefined>;
  /** Prints the GraphQL schema; undefined when it is not served. */
  readonly printSdl?: (() => string) | undefined;
  readonly served: ServedPages;
}

/** The route table: every path that the gateway serves. `GET /` lists the routes in this order. */
export function createRoutes({ served, printSdl, unreadiness, ...handlers }: RouteDependencies): readonly Route[] {
  const renderError = errorPages(served);
  let sdl: string | undefined;
  let reference: PageContent | undefined;
  /** A path that anyone may read. */
  const open = (path: string, description: string, handle: Handler['handle'], more: Partial<Route> = {}): Route => ({
    path,
    methods: ['GET', 'HEAD'],
    credential: 'ignored',
    description,
    isListed: true,
    handle,
    renderError,
    ...more,
  });
  const page = (
    path: string,
    description: string,
    content: (parameter: string) => PageContent,
    more: Partial<Route> = {},
  ): Route => open(path, description, (request) => renderPage(served, request, content(request.parameter)), more);
  const unlisted = { isListed: false };
  /** A path of an API. */
  const api = (path: string, methods: readonly string[], description: string, handler: Handler): Route => ({
    path,
    methods,
    credential: 'required',
    description,
    isListed: true,
    handle: handler.handle,
    renderError: errorPages(served, handler.renderError),
  });
  const consolePage = (request: HttpRequest): HttpResponse => renderScriptedPage(served, request, 'console');
  const routes: readonly Route[] = [
    open(
      paths.contents,
      'The available paths',
      (request) => {
        const listed = routes.filter(({ isListed }) => isListed);
        if (prefersHtml(request.headers.accept)) return renderPage(served, request, startPage(served, listed));
        const contents = Object.fromEntries(listed.map(({ path, description }) => [path, description]));
        const { headers, ...response } = json(200, { name: 'user-group-gateway', contents });
        return { ...response, headers: { ...headers, vary: 'Accept' } };
      },
      unlisted,
    ),
    {
      ...api(
        paths.graphql,
        graphqlMethods,
        served.playground ? 'GraphQL API; in a browser, the playground' : 'GraphQL API',
        handlers.graphql,
      ),
      browse: (request) => {
        if (served.playground) return renderScriptedPage(served, request, 'playground');
        if (request.query !== '') return handlers.graphql.handle(request);
        throw new GatewayError('NOT_FOUND', 'This gateway serves no playground. Programs send GraphQL requests to this path.');
      },
      credential: 'optional',
    },
    ...(printSdl
      ? [
          open(paths.schema, 'The GraphQL schema, for tools and code generators', () => {
            sdl ??= printSdl();
            return cachedBriefly(inUtf8(mediaTypes.text), sdl);
          }),
        ]
      : []),
    ...(served.console
      ? [
          open(paths.console, 'Web console for user groups, API tokens and webhooks', consolePage),
          // The pages differ in their script only.
          open(`${paths.console}/{page}`, 'A page of the web console', consolePage, {
            ...unlisted,
            accepts: (name) => /^[a-z]+(?:-[a-z]+)*$/.test(name),
          }),
        ]
      : []),
    { ...api(paths.user, userMethods, `Legacy REST API: ${userSummary}`, handlers.user), schemes: ['Token'] },
    api(paths.embedTokens, embedTokenMethods, 'REST API: POST creates an embed token', handlers.embedTokens),
    api(paths.events, eventFeedMethods, 'REST API: the event feed, every change in order', handlers.events),
    api(
      paths.introspection,
      introspectionMethods,
      'OAuth 2.0 token introspection (RFC 7662) of user group tokens and embed tokens',
      handlers.introspection,
    ),
    open(paths.jwks, 'The public keys of embed tokens, as a JWK Set', handlers.jwks.handle),
    api(paths.metrics, ['GET'], 'Metrics of this instance for Prometheus', handlers.metrics),
    page(paths.apiReference, 'Reference of the API: every request and response', () => {
      reference ??= apiReferencePage(readOpenApi());
      return reference;
    }),
    open(paths.openApi, 'OpenAPI 3.1 document of the gateway, for tools and code generators', () =>
      cachedBriefly(mediaTypes.json, readOpenApi()),
    ),
    page(paths.errors, 'Error codes: meaning and remedy', errorCodesPage),
    page(`${paths.errors}/{code}`, 'An error code: meaning and remedy', (code) => errorCodePage(code as ErrorCode), {
      ...unlisted,
      accepts: isErrorCode,
    }),
    page(paths.docsConfig, 'Diagnostics of the configuration file validator, with examples', diagnosticsPage),
    page(
      `${paths.docsConfig}/{code}`,
      'A diagnostic of the configuration file validator, with examples',
      (code) => diagnosticPage(code as Code),
      { ...unlisted, accepts: isCode },
    ),
    open(paths.docsConfigSchema, 'JSON Schema of the configuration file, for editors', () =>
      json(200, docsConfigJsonSchema({}), mediaTypes.jsonSchema),
    ),
    open('/assets/{name}', 'The stylesheets, the scripts and the fonts of the pages', (request) => serveAsset(request), {
      ...unlisted,
      accepts: isAssetName,
    }),
    open(
      '/favicon.ico',
      'The icon of the pages',
      () => ({
        status: 200,
        headers: { 'content-type': inUtf8(mediaTypes.svg) },
        body: readWebFile('icon.svg'),
        cacheControl: 'public, max-age=86400',
      }),
      unlisted,
    ),
    open('/livez', 'Liveness check', () => json(200, { status: 'alive' })),
    open('/readyz', 'Readiness check: the database is reachable and fully migrated', async () => {
      const reason = await unreadiness();
      return reason === undefined ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reason });
    }),
  ];
  return routes;
}

/** What `scripts/compile.js` wrote, from `openapi.yaml`. */
const readOpenApi = (): string => readFileSync(new URL('dist/openapi.json', packageRoot), 'utf8');

/** A document that changes with the version of the gateway only. */
function cachedBriefly(contentType: string, body: string): HttpResponse {
  return { status: 200, headers: { 'content-type': contentType }, body, cacheControl: 'public, max-age=300' };
}

function json(status: number, body: unknown, mediaType: string = mediaTypes.json): HttpResponse {
  return { status, headers: { 'content-type': mediaType }, body: JSON.stringify(body) };
}
