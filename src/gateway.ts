import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Database } from './database/client.ts';
import { isMigrated } from './database/migrate.ts';
import { bindLookups } from './database/queries/lookups.ts';
import { bindWrites } from './database/queries/writes.ts';
import { isCode } from './docs-config/rules/registry.ts';
import { docsConfigJsonSchema } from './docs-config/schema/json-schema.ts';
import { recordLastUsed } from './domain/last-used.ts';
import { graphqlRoute } from './graphql/execution/route.ts';
import { createGraphQLServer, type GraphQLServerOptions } from './graphql/execution/server.ts';
import { createContext, type GraphQLContext } from './graphql/schema/context.ts';
import { graphqlLimits } from './graphql/schema/limits.ts';
import { responseTooLarge } from './graphql/schema/response-meter.ts';
import { schema } from './graphql/schema/schema.ts';
import { authenticateBy } from './http/authenticate.ts';
import { createListener } from './http/listener.ts';
import { renderCodePage, renderIndexPage } from './http/pages/docs-config.ts';
import { contentsPage, errorPage, errorsPage, html, json, page } from './http/pages.ts';
import { failureHeaders } from './http/problem.ts';
import type { HttpRequest, Route } from './http/types.ts';
import { userRoute } from './rest/user.ts';

/** A gateway that is built and does not listen yet. */
export interface Gateway {
  /** Takes every request. */
  readonly server: Server;
  /** Whether a request on this connection has arrived whole and is not answered yet. */
  isResponding(socket: Socket): boolean;
  /** From now on `/readyz` responds with 503, and connections are closed after their response. */
  drain(): void;
  /** Writes what is not written yet. The database stays open. */
  close(): Promise<void>;
}

/** How long `/readyz` waits for the database before it takes it for unreachable. */
const readinessTimeoutMs = 2_000;

/** Builds the whole gateway on a database. Starts nothing but the recording of when API tokens were used. */
export function buildGateway(database: Database, log: Logger, options: GraphQLServerOptions = { introspection: true }): Gateway {
  const db = { prisma: database.prisma, lookups: bindLookups(database), writes: bindWrites(database) };
  const lastUsed = recordLastUsed(db.writes);
  let draining = false;

  const contextOf = ({ caller, report, isAbandoned }: HttpRequest): GraphQLContext =>
    createContext({ db, caller, report, isAbandoned });
  const graphql = createGraphQLServer(failureHeaders, options);

  const user = userRoute(schema, contextOf);
  const routes = new Map<string, Route>([
    ['/', contentsPage],
    [
      '/graphql',
      graphqlRoute({
        fastPath: (params, request) =>
          graphql.fastPath({
            ...{ params, characters: request.body.length, accept: request.headers.accept },
            context: contextOf(request),
          }),
        fullPipeline: (url, init, params, request) =>
          graphql.fullPipeline({
            ...{ url, init, params, characters: request.body.length + request.query.length },
            context: contextOf(request),
          }),
        responseTooLarge,
        maxResponseBytes: graphqlLimits.maxResponseBytes,
        maxAcceptLength: graphqlLimits.maxAcceptLength,
      }),
    ],
    ['/api/user', user],
    ['/api/user/', user],
    ['/docs/errors', errorsPage],
    ['/docs/docs-config', page(() => html(renderIndexPage()))],
    ['/schemas/docs-config.json', page(() => json(200, docsConfigJsonSchema({}), 'application/schema+json'))],
    ['/livez', page(() => json(200, { status: 'alive' }))],
    [
      '/readyz',
      page(async () => {
        const reason = draining ? 'stopping' : await unreadiness(database);
        return reason ? json(503, { status: 'not ready', reason }) : json(200, { status: 'ready' });
      }),
    ],
  ]);

  /** Paths that are not listed: a page for each error and each diagnostic. */
  function routeBelow(path: string): Route | undefined {
    const [, folder, name = ''] = /^(\/docs\/[a-z-]+)\/([\w-]+)$/.exec(path) ?? [];
    if (folder === '/docs/errors') return errorPage(name);
    return folder === '/docs/docs-config' && isCode(name) ? page(() => html(renderCodePage(name))) : undefined;
  }

  const { server, isResponding } = createListener({
    authenticate: authenticateBy({ lookups: db.lookups, lastUsed }),
    route: (path) => routes.get(path) ?? routeBelow(path),
    report: ({ code, message, cause }, { id, method, path }) =>
      log[code === 'INTERNAL' ? 'error' : 'warn']({ request: id, method, path, code, err: cause }, message),
    isDraining: () => draining,
  });

  return {
    ...{ server, isResponding },
    drain() {
      draining = true;
    },
    close: () => lastUsed.stop(),
  };
}

/** Why the gateway cannot serve; nothing if it can. */
async function unreadiness(database: Database): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, readinessTimeoutMs, 'the database does not respond');
  });
  const check = isMigrated(database).then(
    (migrated) => (migrated ? undefined : 'the database has pending migrations'),
    () => 'the database is unreachable',
  );
  return Promise.race([check, timeout]).finally(() => clearTimeout(timer));
}
