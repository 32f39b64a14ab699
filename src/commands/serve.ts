import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { acceptBootstrapToken, issueFirstApiToken } from '../api-tokens/api-tokens.ts';
import { describeRefusal } from '../api-tokens/authenticate.ts';
import { contextOf, createApp } from '../app.ts';
import { Caller, systemAuthor } from '../caller.ts';
import { ensureSigningKeys } from '../embed-tokens/signing-keys.ts';
import { buildGateway, type GatewayOptions } from '../gateway.ts';
import { readPersistedOperations } from '../graphql/params.ts';
import { startHousekeeping } from '../housekeeping/housekeeping.ts';
import { isResponding, urlOf } from '../http/server.ts';
import { openLog } from '../log.ts';
import { packageRoot, readPackageVersion } from '../package-root.ts';
import { schema } from '../schema.ts';
import { type Config, readConfig } from '../settings.ts';
import { startTracing } from '../tracing.ts';
import { type CommandContext, openAndRun } from './context.ts';
import { keyRefreshMs } from './key-file.ts';
import { Stopped, untilStopSignal } from './options.ts';

/** How many new connections the system keeps until they are accepted; it may have a lower limit of its own. */
const backlog = 4_096;

/** How long a connection without a complete request is kept once the listener is closed. */
const idleGraceMs = 2_000;

/** How long requests in flight may take once the listener is closed. */
const drainTimeoutMs = 30_000;

/** `serve`: serves requests until a signal, then completes those in flight and stops, the bundled PostgreSQL last. */
export function define(command: Command): void {
  command.action(serve);
}

async function serve(): Promise<void> {
  const stop = untilStopSignal();
  const config = readConfig(process.env, process.stderr.isTTY);
  const persistedOperations = await readPersistedOperations(config, schema);
  await requireFreeAddress(config);
  try {
    await openAndRun(config, 'create', stop, (context) => run(context, { ...config, persistedOperations }), true);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    openLog(config, process.stderr).info(`${error.by}: stopped before listening`);
  }
}

async function run({ config, log, database, keys, stop }: CommandContext, options: GatewayOptions): Promise<void> {
  const context = contextOf(createApp(database, keys), Caller.trusted(systemAuthor));
  const { bootstrapApiToken } = config;
  const bootstrap = bootstrapApiToken === undefined ? undefined : await acceptBootstrapToken(context, bootstrapApiToken);
  const problem =
    bootstrap && (describeRefusal(bootstrap) ?? (bootstrap.scopes.includes('admin') ? '' : 'It lacks the scope admin.'));
  if (problem)
    log.warn(
      `BOOTSTRAP_API_TOKEN is the API token #${bootstrap.id}, which was stored before. ${problem} ` +
        'Set BOOTSTRAP_API_TOKEN to another value, or remove it if it is not used any more.',
    );
  // Before any client can ask for it: a verifier that has seen no key would keep that for a while.
  await ensureSigningKeys(context);
  startTracing(readPackageVersion());
  const gateway = buildGateway(database, keys, log, options);
  // By default a rejected promise that nothing waits for ends the process, and with it every other request.
  process.on('unhandledRejection', gateway.reportUnhandled);
  const following = setInterval(() => keys.refresh(), keyRefreshMs).unref();
  const sockets = await listen(gateway.server, config);
  const url = urlOf(gateway.server);
  // Last, so that no failure can prevent it from being printed.
  const first = await issueFirstApiToken(context).catch(async (error) => {
    gateway.server.close();
    await gateway.close();
    throw error;
  });
  if (first) process.stdout.write(welcome(url, first.secret));
  const hasPlayground = config.playground && !options.persistedOperations;
  log.info(`listening on ${url}${hasPlayground ? ` (playground: ${url}/graphql)` : ''}`);
  const stopHousekeeping = startHousekeeping(database, config.auditRetentionDays, {
    onRemoved: (removed) => log.info(removed, 'housekeeping removed old rows'),
    onFailure: (error) => log.warn({ err: error }, 'housekeeping failed; it is tried again in an hour'),
  });

  if (!stop.aborted) await once(stop, 'abort');
  const { by } = stop.reason as Stopped;
  gateway.drain();
  if (config.drainDelaySeconds > 0) {
    log.info(`${by}: /readyz now responds with 503; closing the listener in ${config.drainDelaySeconds} s`);
    await sleep(config.drainDelaySeconds * 1_000);
  }
  log.info(`${by}: draining in-flight requests, then exiting`);
  await drain(gateway.server, sockets, log);
  await stopHousekeeping();
  await gateway.close();
  clearInterval(following);
  log.info('stopped');
}

/** Listens for a moment, before a start changes anything. @throws Error that says what to change. */
async function requireFreeAddress(config: Config): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, config);
  server.close();
}

/** Starts listening. @returns the open connections. @throws Error that says what to change. */
async function listen(server: NetServer, { host, port }: Config): Promise<ReadonlySet<Socket>> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen({ port, host, backlog });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(
      `Cannot listen on ${host}:${port}: ${listenProblems[code] ?? `${message}. Set HOST and PORT to a free address.`}`,
    );
  }
  return sockets;
}

const noAddress =
  'HOST is not an address of this machine. Set it to 127.0.0.1 (this machine only), 0.0.0.0 (every network) or one of its addresses.';
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use. Stop the program that uses it, or set PORT to a free port.',
  EACCES: 'permission denied. Set PORT to 1024 or above and use a reverse proxy, or grant CAP_NET_BIND_SERVICE to the process.',
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
};

/** Closes the listener and waits for the requests in flight. */
async function drain(server: Server, sockets: ReadonlySet<Socket>, log: Logger): Promise<void> {
  // Not the server's own close(), which closes idle connections at once, on which a request may be on its way.
  NetServer.prototype.close.call(server);
  const idle = setTimeout(() => {
    for (const socket of sockets) if (!isResponding(socket)) socket.destroy();
  }, idleGraceMs);
  const late = setTimeout(() => {
    log.warn(`closing connections whose requests took longer than ${drainTimeoutMs / 1_000} s`);
    server.closeAllConnections();
  }, drainTimeoutMs);
  await once(server, 'close');
  clearTimeout(idle);
  clearTimeout(late);
}

/** What the first start prints: the only time that the secret is shown. */
function welcome(url: string, secret: string): string {
  const isCheckout = existsSync(new URL('scripts/gateway.js', packageRoot));
  const command = isCheckout ? 'npm run -s gateway --' : `node ${JSON.stringify(process.argv[1])}`;
  return `
First start: created an API token for the Testing environment. It is shown only once:

  ${secret}

Create a user group (run it again to get the same one back):

  curl -sS -X GET ${url}/api/user -H 'Authorization: Token ${secret}' -H 'Content-Type: application/json' -d '{"user_group_id":"acme","name":"ACME"}'

Or open ${url} in a browser, and paste the API token in the playground.

For an API token that may do more, such as read the audit log, run this with the same settings:

  ${command} token create --name admin --environment Testing --scope admin

`;
}
