import type { Server } from 'node:http';
import { inspect } from 'node:util';
import type { Logger } from 'pino';
import { authenticateBy, stampApiTokenUses } from './api-tokens/authenticate.ts';
import { createApp } from './app.ts';
import { createFeed } from './audit-log/feed.ts';
import { eventFeedHandler } from './audit-log/rest.ts';
import { startRecorder } from './concurrency.ts';
import { type Database, traceStatements } from './database/client.ts';
import { ownMigrationNames } from './database/migrate.ts';
import { embedTokenHandler, introspectionHandler, jwksHandler } from './embed-tokens/rest.ts';
import { type KeyRing, missingKeyIn } from './encryption/keys.ts';
import { type GraphQLHandlerOptions, graphqlHandler } from './graphql/endpoint.ts';
import { createCors } from './http/cors.ts';
import { errorPages } from './http/pages/errors.ts';
import { createHttpServer, urlOf } from './http/server.ts';
import { instanceSource, unreadiness } from './instance/instance.ts';
import { metricsHandler } from './instance/metrics-route.ts';
import { watchMissingKeys } from './key-rotation.ts';
import { createRequestLog, logOutages, traceIdOf } from './log.ts';
import { metrics } from './metrics/metrics.ts';
import { ProcessMetrics } from './metrics/request-metrics.ts';
import { readPackageVersion } from './package-root.ts';
import { startRateLimiting } from './rate-limits/rate-limit.ts';
import { createRoutes } from './routes.ts';
import { printSdl, schema } from './schema.ts';
import type { Config } from './settings.ts';
import { tracing } from './tracing/tracing.ts';
import { userHandler } from './user-groups/rest.ts';
import { stampResolvedGroups } from './user-groups/sql.ts';
import { startDeliveries } from './webhooks/deliver.ts';

/** A gateway that does not listen yet. */
export interface Gateway {
  /** Handles every request. */
  readonly server: Server;
  /** Logs and counts a failure that no code has handled: a defect, after which the other requests continue. */
  reportUnhandled(reason: unknown): void;
  /** Makes `/readyz` respond with 503 from now on, closes connections after their response, and begins no more deliveries. */
  drain(): void;
  /** Waits for deliveries in flight, at most 15 s, and writes what is not written yet. The database stays open. */
  close(): Promise<void>;
}

/** The settings that the gateway uses; one that is left out has its default. */
type GatewaySettings = Partial<
  Pick<Config, 'publicUrl' | 'console' | 'playground' | 'logRequests' | 'rateLimit' | 'corsOrigins' | 'webhooksAllowedNetworks'>
>;

/** How the gateway is built. */
export type GatewayOptions = GraphQLHandlerOptions & GatewaySettings;

/**
 * Builds the whole gateway on a database. Starts nothing but the recording of when API tokens were used and groups were
 * resolved, and of the event loop's delay, the sharing of request counts, and the delivery of events to webhooks.
 */
export function buildGateway(
  given: Database,
  keys: KeyRing,
  log: Logger,
  options: GatewayOptions = { introspection: true },
): Gateway {
  const database = tracing.active ? traceStatements(given, tracing.active) : given;
  const publicUrl = (): string => options.publicUrl ?? urlOf(server);
  const { webhooksAllowedNetworks: webhookNetworks = [] } = options;
  const whenWritten = (what: string) => logOutages(log, `${what} cannot be recorded`, `${what} is recorded again`);
  const lastResolved = startRecorder(
    (secondsAgo) => stampResolvedGroups(database.sql, secondsAgo),
    whenWritten('the time when groups were last resolved'),
  );
  const draining = new AbortController();
  const app = createApp(database, keys, {
    publicUrl,
    webhookNetworks,
    feed: createFeed(database.sql, draining.signal),
    noteResolved: lastResolved.note,
  });
  const lastUsed = startRecorder(
    (secondsAgo) => stampApiTokenUses(database.sql, secondsAgo),
    whenWritten('the time when API tokens were last used'),
  );

  const version = readPackageVersion();
  const processMetrics = new ProcessMetrics(() => measureGateway(database, version));
  const { requests } = processMetrics;

  const instance = instanceSource(database, { version, migrations: ownMigrationNames() });
  const logRequest = createRequestLog(log, options.logRequests ?? 0);

  const { console = true, playground = true, persistedOperations, rateLimit = 0, corsOrigins = [] } = options;
  const served = { console, playground: playground && !persistedOperations };
  const routes = createRoutes({
    served,
    graphql: graphqlHandler(schema, app, { metrics: processMetrics, instance }, options),
    user: userHandler(app),
    embedTokens: embedTokenHandler(app),
    events: eventFeedHandler(app),
    introspection: introspectionHandler(app),
    jwks: jwksHandler(app),
    metrics: metricsHandler(processMetrics),
    printSdl: options.introspection ? printSdl : undefined,
    unreadiness: async () => (draining.signal.aborted ? 'stopping' : unreadiness(database, keys)),
  });
  // Prometheus sees no increase of a series that it has not seen before.
  for (const { path } of routes) metrics.errors.inc({ route: path, code: 'INTERNAL' }, 0);

  const rateLimiting = startRateLimiting(
    rateLimit,
    given.sql,
    logOutages(
      log,
      'each process limits the rate of requests by itself: the database fails',
      'processes limit the rate of requests together again',
    ),
  );
  const deliveries = startDeliveries(
    {
      sql: given.sql,
      keys,
      log,
      report: logOutages(log, 'webhooks cannot be delivered', 'webhooks can be delivered again'),
    },
    { allowedNetworks: webhookNetworks },
  );

  const stopWatchingKeys = watchMissingKeys(given.sql, keys, log);

  const server = createHttpServer({
    authenticate: authenticateBy({ reads: app.reads, lastUsed, rateLimiting }),
    rateLimiting,
    routes,
    renderError: errorPages(served),
    permitOrigin: corsOrigins.length > 0 ? createCors(corsOrigins) : undefined,
    report: ({ code, message, cause }, { id, method, path, headers }) => {
      if (missingKeyIn(cause)) metrics.missingKeys.inc();
      const entry = { request: id, trace: traceIdOf(headers), method, path, code, err: cause };
      log[code === 'INTERNAL' ? 'error' : 'warn'](entry, message);
    },
    draining: draining.signal,
    onResponse: logRequest
      ? (completed) => {
          logRequest(completed);
          requests.complete(completed);
        }
      : requests.complete,
  });

  return {
    server,
    reportUnhandled(reason) {
      metrics.unhandledFailures.inc();
      const err = reason instanceof Error ? reason : new Error(inspect(reason, { depth: 1 }));
      log.error({ err }, 'a failure was not handled: please report this defect with the stack; requests are still served');
    },
    drain() {
      draining.abort();
      deliveries.drain();
    },
    async close() {
      processMetrics.stop();
      draining.abort();
      await Promise.all([lastUsed.stop(), lastResolved.stop(), rateLimiting.stop(), deliveries.stop(), stopWatchingKeys()]);
    },
  };
}

/** Sets the gauges of a gateway to what they are now. */
function measureGateway({ pool, poolSize }: Database, version: string): void {
  metrics.poolConnections.set({ state: 'idle' }, pool.idleCount);
  metrics.poolConnections.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
  metrics.poolLimit.set(poolSize);
  metrics.queue.set({ queue: 'database_connections' }, pool.waitingCount);
  metrics.build.set({ version, node_version: process.version }, 1);
}
