import { readFileSync } from 'node:fs';
import { docsConfigJsonSchema, isCode } from '@user-group-gateway/docs-config';
import { eventFeedMethods } from './audit-log/rest.ts';
import { diagnosticPage, diagnosticsPage } from './docs-config/pages.ts';
import { embedTokenMethods, introspectionMethods } from './embed-tokens/rest.ts';
import { graphqlMethods } from './graphql/endpoint.ts';
import { inUtf8, mediaTypes } from './http/media-types.ts';
import { apiReferencePage } from './http/pages/api-reference.ts';
import { assetRoutePath, isAsset, serveAsset, serveFavicon } from './http/pages/assets.ts';
import { renderContents } from './http/pages/contents.ts';
import { errorCodePage, errorCodesPage, isErrorCode } from './http/pages/error-codes.ts';
import type { Layout } from './http/pages/layout.ts';
import { readOpenApi } from './http/pages/openapi.ts';
import { browseGraphql, createPageHandlers, json, renderScriptedPage, withErrorPages } from './http/pages/page.ts';
import { paths } from './http/paths.ts';
import type { Handler, HttpRequest, HttpResponse, Route } from './http/types.ts';
import { openWebFiles } from './http/web-files.ts';
import { metricsMethods } from './instance/metrics-route.ts';
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
  /** The layout of the pages. */
  readonly layout: Layout;
}

/** The route table: every path that the gateway serves. `GET /` lists the routes in this order. */
export function createRoutes(dependencies: RouteDependencies): readonly Route[] {
  const { layout, printSdl, unreadiness, ...handlers } = dependencies;
  const { resource, page, parameterPage } = createPageHandlers(layout);
  const { served } = layout;
  const web = openWebFiles(new URL('dist-web/', packageRoot), new URL('dist-web.previous/', packageRoot));
  const scripted = (name: string) => (request: HttpRequest) => renderScriptedPage(web.page(name), request, layout);
  /** A path that anyone may read. */
  const open = (path: string, description: string, handler: Handler & Pick<Route, 'accepts'>): Route => ({
    path,
    methods: ['GET', 'HEAD'],
    credential: 'ignored',
    description,
    isListed: true,
    ...handler,
  });
  /** The same, and `GET /` does not list it. */
  const unlisted = (...route: Parameters<typeof open>): Route => ({ ...open(...route), isListed: false });
  /** A path of an API. */
  const api = (path: string, methods: readonly string[], description: string, handler: Handler): Route => ({
    path,
    methods,
    credential: 'required',
    description,
    isListed: true,
    ...handler,
  });
  /** Its errors are pages for browsers. */
  const withPages = (handler: Handler): Handler => withErrorPages(layout, handler);
  const consolePage = resource(scripted('console'));
  const routes: readonly Route[] = [
    unlisted(
      paths.contents,
      'The available paths',
      resource((request) => renderContents(request, routes, layout)),
    ),
    {
      ...api(
        paths.graphql,
        graphqlMethods,
        served.playground ? 'GraphQL API; in a browser, the playground' : 'GraphQL API',
        withPages(handlers.graphql),
      ),
      browse: browseGraphql(handlers.graphql.handle, served.playground ? scripted('playground') : undefined),
      credential: 'optional',
    },
    ...(printSdl
      ? [
          open(
            paths.schema,
            'The GraphQL schema, for tools and code generators',
            resource(once(() => cachedBriefly(inUtf8(mediaTypes.text), printSdl()))),
          ),
        ]
      : []),
    ...(served.console
      ? [
          open(paths.console, 'Web console for user groups, API tokens and webhooks', consolePage),
          unlisted(`${paths.console}/{page}`, 'A page of the web console', { ...consolePage, accepts: isConsolePage }),
        ]
      : []),
    {
      ...api(paths.user, userMethods, `Legacy REST API: ${userSummary}`, withPages(handlers.user)),
      schemes: ['Token'],
    },
    api(paths.embedTokens, embedTokenMethods, 'REST API: POST creates an embed token', withPages(handlers.embedTokens)),
    api(paths.events, eventFeedMethods, 'REST API: the event feed, every change in order', withPages(handlers.events)),
    api(
      paths.introspection,
      introspectionMethods,
      'OAuth 2.0 token introspection (RFC 7662) of user group tokens and embed tokens',
      handlers.introspection,
    ),
    open(paths.jwks, 'The public keys of embed tokens, as a JWK Set', withPages(handlers.jwks)),
    api(paths.metrics, metricsMethods, 'Metrics of this instance for Prometheus', withPages(handlers.metrics)),
    open(
      paths.apiReference,
      'Reference of the API: every request, response and error',
      page(() => reference()),
    ),
    open(
      paths.openApi,
      'OpenAPI 3.1 document of the gateway, for tools and code generators',
      resource(() => openApi()),
    ),
    open(paths.errors, 'Error codes: meaning and remedy', page(errorCodesPage)),
    unlisted(`${paths.errors}/{code}`, 'An error code: meaning and remedy', parameterPage(isErrorCode, errorCodePage)),
    open(paths.docsConfig, 'Diagnostics of the configuration file validator, with examples', page(diagnosticsPage)),
    unlisted(
      `${paths.docsConfig}/{code}`,
      'A diagnostic of the configuration file validator, with examples',
      parameterPage(isCode, diagnosticPage),
    ),
    open(
      paths.docsConfigSchema,
      'JSON Schema of the configuration file, for editors',
      resource(() => json(200, docsConfigJsonSchema({}), mediaTypes.jsonSchema)),
    ),
    unlisted(assetRoutePath, 'The stylesheet, the icon, the scripts and the fonts of the pages', {
      ...resource((request) => (isAsset(request.parameter) ? serveAsset(request) : web.serve(request))),
      accepts: (name) => isAsset(name) || web.isName(name),
    }),
    unlisted('/favicon.ico', 'The icon of the pages', resource(serveFavicon)),
    open(
      '/livez',
      'Liveness check',
      resource(() => json(200, { status: 'alive' })),
    ),
    open(
      '/readyz',
      'Readiness check: the database is reachable and fully migrated',
      resource(async () => {
        const reason = await unreadiness();
        return reason === undefined ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reason });
      }),
    ),
  ];
  const openApi = once((): HttpResponse => {
    // Written by scripts/compile.js, from openapi.yaml.
    return cachedBriefly(mediaTypes.json, readFileSync(new URL('dist/openapi.json', packageRoot), 'utf8'));
  });
  const reference = once(() => apiReferencePage(readOpenApi(openApi().body)));
  return routes;
}

/** A document that changes with the version of the gateway only. */
function cachedBriefly(contentType: string, body: string): HttpResponse {
  return { status: 200, headers: { 'content-type': contentType }, body, cacheControl: 'public, max-age=300' };
}

/** Whether it is the name of a page of the console: its pages differ in their script only. */
const isConsolePage = (page: string): boolean => /^[a-z]+(?:-[a-z]+)*$/.test(page);

/** Makes a value when it is first used. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
