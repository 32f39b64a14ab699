import { readFileSync } from 'node:fs';
import { eventFeedMethods } from './audit-log/rest.ts';
import { diagnosticPage, diagnosticsPage } from './docs-config/pages.ts';
import { isCode } from './docs-config/rules/registry.ts';
import { docsConfigJsonSchema } from './docs-config/schema/json-schema.ts';
import { embedTokenMethods, introspectionMethods } from './embed-tokens/rest.ts';
import { graphqlMethods } from './graphql/execution/route.ts';
import { inUtf8, mediaTypes } from './http/media-types.ts';
import { apiReferencePage } from './http/pages/api-reference.ts';
import { assetRoutePath, isAsset, serveAsset, serveFavicon } from './http/pages/assets.ts';
import { renderContents } from './http/pages/contents.ts';
import { errorCodePage, errorCodesPage, isErrorCode } from './http/pages/error-codes.ts';
import { createLayout, type Layout } from './http/pages/layout.ts';
import { readOpenApi } from './http/pages/openapi.ts';
import { createPageHandlers, json, renderScriptedPage, withErrorPages, withPlayground } from './http/pages/page.ts';
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
  /** The layout of the pages; with the console and the playground by default. */
  readonly layout?: Layout;
}

/** What the read-only routes without a credential have in common. */
const readOnly = { methods: ['GET', 'HEAD'], credential: 'ignored' } as const;

/** The layout of a gateway that serves every page. */
const fullLayout = createLayout({ console: true, playground: true });

/** The route table: every path that the gateway serves. `GET /` lists the routes in this order. */
export function createRoutes(dependencies: RouteDependencies): readonly Route[] {
  const { layout = fullLayout, printSdl, unreadiness, ...handlers } = dependencies;
  const { resource, page, parameterPage } = createPageHandlers(layout);
  const { served } = layout;
  const web = openWebFiles(new URL('dist-web/', packageRoot), new URL('dist-web.previous/', packageRoot));
  const scripted = (name: string) => (request: HttpRequest) => renderScriptedPage(web.page(name), request, layout);
  const routes: readonly Route[] = [
    {
      path: paths.contents,
      ...readOnly,
      description: 'The available paths',
      isListed: false,
      ...resource((request) => renderContents(request, routes, layout)),
    },
    {
      path: paths.graphql,
      methods: graphqlMethods,
      credential: 'optional',
      description: served.playground ? 'GraphQL API; in a browser, the playground' : 'GraphQL API',
      isListed: true,
      ...withErrorPages(layout, withPlayground(handlers.graphql, served.playground ? scripted('playground') : undefined)),
    },
    ...(printSdl ? [schemaRoute(resource(once(() => cachedBriefly(inUtf8(mediaTypes.text), printSdl()))))] : []),
    ...(served.console ? consoleRoutes(resource(scripted('console'))) : []),
    {
      path: paths.user,
      aliases: [`${paths.user}/`],
      methods: userMethods,
      credential: 'required',
      schemes: ['Token'],
      description: `Legacy REST API: ${userSummary}`,
      isListed: true,
      ...withErrorPages(layout, handlers.user),
    },
    {
      path: paths.embedTokens,
      methods: embedTokenMethods,
      credential: 'required',
      description: 'REST API: POST creates an embed token',
      isListed: true,
      ...withErrorPages(layout, handlers.embedTokens),
    },
    {
      path: paths.events,
      methods: eventFeedMethods,
      credential: 'required',
      description: 'REST API: the event feed, every change in order',
      isListed: true,
      ...withErrorPages(layout, handlers.events),
    },
    {
      path: paths.introspection,
      methods: introspectionMethods,
      credential: 'required',
      description: 'OAuth 2.0 token introspection (RFC 7662) of user group tokens and embed tokens',
      isListed: true,
      ...handlers.introspection,
    },
    {
      path: paths.jwks,
      ...readOnly,
      description: 'The public keys of embed tokens, as a JWK Set',
      isListed: true,
      ...withErrorPages(layout, handlers.jwks),
    },
    {
      path: paths.metrics,
      methods: metricsMethods,
      credential: 'required',
      description: 'Metrics of this instance for Prometheus',
      isListed: true,
      ...withErrorPages(layout, handlers.metrics),
    },
    {
      path: paths.apiReference,
      ...readOnly,
      description: 'Reference of the API: every request, response and error',
      isListed: true,
      ...page(() => reference()),
    },
    {
      path: paths.openApi,
      ...readOnly,
      description: 'OpenAPI 3.1 document of the gateway, for tools and code generators',
      isListed: true,
      ...resource(() => openApi()),
    },
    {
      path: paths.errors,
      ...readOnly,
      description: 'Error codes: meaning and remedy',
      isListed: true,
      ...page(errorCodesPage),
    },
    {
      path: `${paths.errors}/{code}`,
      ...readOnly,
      description: 'An error code: meaning and remedy',
      isListed: false,
      ...parameterPage(isErrorCode, errorCodePage),
    },
    {
      path: paths.docsConfig,
      ...readOnly,
      description: 'Diagnostics of the configuration file validator, with examples',
      isListed: true,
      ...page(diagnosticsPage),
    },
    {
      path: `${paths.docsConfig}/{code}`,
      ...readOnly,
      description: 'A diagnostic of the configuration file validator, with examples',
      isListed: false,
      ...parameterPage(isCode, diagnosticPage),
    },
    {
      path: paths.docsConfigSchema,
      ...readOnly,
      description: 'JSON Schema of the configuration file, for editors',
      isListed: true,
      ...resource(() => json(200, docsConfigJsonSchema({}), mediaTypes.jsonSchema)),
    },
    {
      path: assetRoutePath,
      accepts: (name) => isAsset(name) || web.isName(name),
      ...readOnly,
      description: 'The stylesheet, the icon, the scripts and the fonts of the pages',
      isListed: false,
      ...resource((request) => (isAsset(request.parameter) ? serveAsset(request) : web.serve(request))),
    },
    {
      path: '/favicon.ico',
      ...readOnly,
      description: 'The icon of the pages',
      isListed: false,
      ...resource(serveFavicon),
    },
    {
      path: '/livez',
      ...readOnly,
      description: 'Liveness check',
      isListed: true,
      ...resource(() => json(200, { status: 'alive' })),
    },
    {
      path: '/readyz',
      ...readOnly,
      description: 'Readiness check: the database is reachable and fully migrated',
      isListed: true,
      ...resource(async () => {
        const reason = await unreadiness();
        return reason === undefined ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reason });
      }),
    },
  ];
  const openApi = once((): HttpResponse => {
    // Written by scripts/compile.js, from openapi.yaml.
    return cachedBriefly(mediaTypes.json, readFileSync(new URL('dist/openapi.json', packageRoot), 'utf8'));
  });
  const reference = once(() => apiReferencePage(readOpenApi(openApi().body)));
  return routes;
}

function schemaRoute(handler: Handler): Route {
  return {
    path: paths.schema,
    ...readOnly,
    description: 'The GraphQL schema, for tools and code generators',
    isListed: true,
    ...handler,
  };
}

/** A document that changes with the version of the gateway only. */
function cachedBriefly(contentType: string, body: string): HttpResponse {
  return { status: 200, headers: { 'content-type': contentType }, body, cacheControl: 'public, max-age=300' };
}

/** The routes of the console: its pages differ in their script only. */
function consoleRoutes(handler: Handler): readonly Route[] {
  const route = { ...readOnly, ...handler };
  return [
    { path: paths.console, ...route, description: 'Web console for user groups, API tokens and webhooks', isListed: true },
    {
      path: `${paths.console}/{page}`,
      accepts: (page) => /^[a-z]+(?:-[a-z]+)*$/.test(page),
      ...route,
      description: 'A page of the web console',
      isListed: false,
    },
  ];
}

/** Makes a value when it is first used. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
