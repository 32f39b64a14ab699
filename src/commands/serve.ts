import cluster from 'node:cluster';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { acceptBootstrapToken, issueFirstApiToken } from '../domain/api-tokens.ts';
import { bindStatements } from '../domain/statements.ts';
import { buildGateway } from '../gateway.ts';
import { type CommandContext, withDatabase } from './context.ts';
import { UsageError } from './usage-error.ts';
import { runWorkers, untilToldToStop } from './workers.ts';

/** How long connections that are idle when the gateway stops may still bring a request. */
const idleGraceMs = 1_000;

/** How long a stop waits for requests that are being answered. */
const drainTimeoutMs = 30_000;

/** `serve [--workers N]`: takes requests until SIGTERM or SIGINT, then answers those under way and stops. A second signal ends at once. */
export async function serve(args: string[]): Promise<number> {
  const workers = workerCount(args);
  if (cluster.isPrimary && workers > 1) {
    readConfig(process.env, process.stderr.isTTY); // so that mistakes are told once
    return runWorkers(workers, untilSignal());
  }
  const stop: Promise<string> = cluster.isWorker ? untilToldToStop() : untilSignal();
  return withDatabase(async (context) => {
    const { config, log, database } = context;
    if (config.bootstrapApiToken)
      await acceptBootstrapToken({ prisma: database.prisma, statements: bindStatements(database) }, config.bootstrapApiToken);
    const gateway = buildGateway(database, log);
    const sockets = openSockets(gateway.server);
    await listen(gateway.server, config);
    const url = urlOf(gateway.server.address() as AddressInfo);
    try {
      // Only now, when nothing can keep it from being printed.
      const first = await issueFirstApiToken(database);
      if (first) process.stdout.write(welcome(url, first.secret));
    } catch (error) {
      gateway.server.close();
      gateway.server.closeAllConnections();
      await gateway.close();
      throw error;
    }
    log.info(`listening on ${url} (playground: ${url}/graphql)`);

    log.info(`${await stop}: answering what is under way, then stopping`);
    gateway.drain();
    await closeServer(gateway.server, sockets, log);
    await gateway.close();
    log.info('stopped');
    return 0;
  });
}

function workerCount(args: string[]): number {
  try {
    const { workers = '1' } = parseArgs({ args, options: { workers: { type: 'string' } } }).values;
    if (/^[1-9]\d{0,2}$/.test(workers)) return Number(workers);
  } catch {
    // told below, as a wrong number is
  }
  throw new UsageError('serve takes --workers N, the number of processes, from 1 to 999 (default: 1), and nothing else.');
}

async function listen(server: Server, { host, port }: CommandContext['config']): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new Error(
      `Cannot listen on ${host}:${port}: ${(cause as Error).message}. Set HOST and PORT to an address that is free.`,
      { cause },
    );
  }
}

/** Resolves with the first signal to stop; from then on a second one ends the process. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        resolve(signal);
      });
    }
  });
}

/** Stops listening, answers what has begun, and closes each connection after its answer, idle ones after a moment. */
async function closeServer(server: Server, sockets: ReadonlySet<Socket>, log: CommandContext['log']): Promise<void> {
  const idle = setTimeout(() => {
    server.closeIdleConnections();
    // Those on which nothing was ever sent do not count as idle there.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, idleGraceMs);
  const late = setTimeout(() => {
    log.warn('some requests took too long and were cut off');
    server.closeAllConnections();
  }, drainTimeoutMs);
  const closed = once(server, 'close');
  // Not the HTTP server's own close(), which drops idle connections at once: a request may be on its way on one.
  NetServer.prototype.close.call(server);
  await closed;
  clearTimeout(idle);
  clearTimeout(late);
}

/** The connections that are open at any time. */
function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** What the very first start tells: the only time that the secret is shown. */
function welcome(url: string, secret: string): string {
  return `
This is the first start, so an API token was made for the Testing environment. It is shown only now:

  ${secret}

Try it. This makes a user group, and the second time returns the same one:

  curl -sS -X GET ${url}/api/user -H 'Authorization: Token ${secret}' -H 'Content-Type: application/json' -d '{"user_group_id":"acme","name":"ACME"}'

Or open ${url}/graphql in a browser, and put the API token into the headers below the query.

`;
}
