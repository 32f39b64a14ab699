import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Logger } from 'pino';
import { authenticateBy, stampApiTokenUses } from './api-tokens/authenticate.ts';
import { type App, createApp } from './app.ts';
import { createFeed } from './audit-log/feed.ts';
import { eventFeedHandler } from './audit-log/rest.ts';
import { startRecorder } from './concurrency.ts';
import type { Database } from './database/client.ts';
import { isMigrated } from './database/migrate.ts';
import { embedTokenHandler, introspectionHandler, jwksHandler } from './embed-tokens/rest.ts';
import { type KeyRing, missingKeyIn } from './encryption/keys.ts';
import { type GraphQLHandlerOptions, graphqlHandler } from './graphql/endpoint.ts';
import { createCors } from './http/cors.ts';
import { inUtf8, mediaTypes } from './http/media-types.ts';
import { errorPages } from './http/pages/errors.ts';
import { problem } from './http/problem.ts';
import type { CompletedRequest } from './http/request.ts';
import { createHttpServer, urlOf } from './http/server.ts';
import type { Handler } from './http/types.ts';
import { watchMissingKeys } from './key-rotation.ts';
import { logOutages } from './log.ts';
import { metrics, registry } from './metrics.ts';
import { readPackageVersion } from './package-root.ts';
import { startRateLimiting } from './rate-limit.ts';
import { createRoutes } from './routes.ts';
import { printSdl, schema } from './schema.ts';
import type { Config } from './settings.ts';
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
  Pick<Config, 'publicUrl' | 'console' | 'playground' | 'rateLimit' | 'corsOrigins' | 'webhooksAllowedNetworks'>
>;

/** How the gateway is built. */
export type GatewayOptions = GraphQLHandlerOptions & GatewaySettings;

/**
 * Builds the whole gateway on a database. Starts nothing but the recording of when API tokens were used and groups were
 * resolved, the sharing of request counts, and the delivery of events to webhooks.
 */
export function buildGateway(
  database: Database,
  keys: KeyRing,
  log: Logger,
  options: GatewayOptions = { introspection: true },
): Gateway {
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

  const { console = true, playground = true, persistedOperations, rateLimit = 0, corsOrigins = [] } = options;
  const served = { console, playground: playground && !persistedOperations };
  const routes = createRoutes({
    served,
    graphql: graphqlHandler(schema, app, options),
    user: userHandler(app),
    embedTokens: embedTokenHandler(app),
    events: eventFeedHandler(app),
    introspection: introspectionHandler(app),
    jwks: jwksHandler(app),
    metrics: metricsHandler(database),
    printSdl: options.introspection ? printSdl : undefined,
    unreadiness: async () => (draining.signal.aborted ? 'stopping' : unreadiness(database, keys)),
  });
  // Prometheus sees no increase of a series that it has not seen before.
  for (const { path } of routes) metrics.errors.inc({ route: path, code: 'INTERNAL' }, 0);

  const rateLimiting = startRateLimiting(
    rateLimit,
    database.sql,
    logOutages(
      log,
      'each process limits the rate of requests by itself: the database fails',
      'processes limit the rate of requests together again',
    ),
  );
  const deliveries = startDeliveries(
    {
      sql: database.sql,
      keys,
      log,
      report: logOutages(log, 'webhooks cannot be delivered', 'webhooks can be delivered again'),
    },
    { allowedNetworks: webhookNetworks },
  );

  const stopWatchingKeys = watchMissingKeys(database.sql, keys, log);

  const server = createHttpServer({
    authenticate: authenticateBy({ reads: app.reads, lastUsed, rateLimiting }),
    rateLimiting,
    routes,
    renderError: errorPages(served),
    permitOrigin: corsOrigins.length > 0 ? createCors(corsOrigins) : undefined,
    report: ({ code, message, cause }, { id, method, path }) => {
      if (missingKeyIn(cause)) metrics.missingKeys.inc();
      log[code === 'INTERNAL' ? 'error' : 'warn']({ request: id, method, path, code, err: cause }, message);
    },
    draining: draining.signal,
    onResponse: (completed) => countRequest(app, completed),
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
      draining.abort();
      await Promise.all([lastUsed.stop(), lastResolved.stop(), rateLimiting.stop(), deliveries.stop(), stopWatchingKeys()]);
    },
  };
}

/** Serves metrics in the text format of Prometheus. Requires the scope `metrics:read`. */
const metricsHandler = ({ pool, poolSize }: Database): Handler => ({
  async handle({ caller }) {
    caller.require('metrics:read');
    metrics.poolConnections.set({ state: 'idle' }, pool.idleCount);
    metrics.poolConnections.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    metrics.poolLimit.set(poolSize);
    metrics.queue.set({ queue: 'database_connections' }, pool.waitingCount);
    metrics.build.set({ version: readPackageVersion(), node_version: process.version }, 1);
    const headers = { 'content-type': inUtf8(`${mediaTypes.text}; version=0.0.4`) };
    return { status: 200, headers, body: await registry.metrics() };
  },
  renderError: problem,
});

function countRequest({ lastHour }: App, { route, method, operation, status, durationMs, errorCodes }: CompletedRequest): void {
  const path = route?.path ?? 'unmatched';
  metrics.requests.inc({ route: path, operation, status: status ?? 'disconnected' });
  if (status !== undefined) metrics.requestDuration.observe({ route: path, operation }, durationMs / 1_000);
  for (const code of errorCodes) metrics.errors.inc({ route: path, code });
  // Pages, files, health checks and preflight requests would hide what the APIs do.
  if (status !== undefined && route && route.credential !== 'ignored' && method !== 'OPTIONS')
    lastHour.count(durationMs, errorCodes);
}

/** How long `/readyz` waits for the database. */
const readyTimeoutMs = 2_000;

/** Why the gateway cannot serve; nothing if it can. Never rejects. */
async function unreadiness(database: Database, keys: KeyRing): Promise<string | undefined> {
  const read = async () => ((await isMigrated(database)) ? undefined : 'the database has pending migrations');
  const check = read().catch(() => 'the database is unreachable');
  const problem = await Promise.race([check, sleep(readyTimeoutMs, 'the database does not respond', { ref: false })]);
  if (problem !== undefined || keys.missing === undefined) return problem;
  return `the encryption key ${keys.missing} is missing: the command doctor says where it belongs`;
}
