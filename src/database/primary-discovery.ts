import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseUrl } from './database-url.ts';
import { createHostLookup, socketsWith } from './failover-client.ts';
import { type Candidate, probe, readSegment, requireRole, type Server } from './probe.ts';

/** Knows which of several servers takes writes, and which connections lead to it. */
export interface PrimaryDiscovery {
  /**
   * The server that takes writes: the last one found, until it fails; then all are asked concurrently.
   *
   * @throws Error that says what is wrong with each server; it counts as an unavailable database.
   */
  find(): Promise<Server>;
  /** Notes that a connection leads to a server, so that its socket is closed when another server takes over. */
  track(client: pg.Client, socket: Socket, server: Server): void;
  /** Notes that a connection could not be established, or leads to a server that no longer takes writes. */
  failed(client: pg.Client, error: unknown): void;
  /** Opens the sockets of the connections to the servers. */
  readonly openSocket: () => Socket;
  /** Closes what it opened. */
  close(): void;
}

/** How long other servers may still respond once one takes writes, in case an old primary came back and takes writes too. */
const graceMs = 300;

/** How long the failure of a search is reused, so that many requests do not burden servers that are starting. */
const retryMs = 200;

/** How often the primary is checked, which has 2 seconds to respond: a host that vanishes silently closes no connection. */
const checkEveryMs = 1_000;

/** How often the other servers are asked whether one of them takes writes too. */
const lookAroundEveryMs = 1_000;

/** Finds the primary among the servers of a URL; connects on first use. */
export function discoverPrimary({ serverUrls, target, connectTimeoutMs }: DatabaseUrl): PrimaryDiscovery {
  const servers = serverUrls.map((url): Server => ({ url, ...readAddress(url) }));
  const openSocket = socketsWith(createHostLookup());
  const tracked = new Map<pg.Client, { readonly socket: Socket; readonly server: Server }>();
  let current: Server | undefined;
  let search: Promise<Server> | undefined;
  let watched: Candidate | undefined;
  /** The cluster that this process has written to. */
  let cluster: string | undefined;
  let closed = false;

  function find(): Promise<Server> {
    if (current) return Promise.resolve(current);
    if (!search) {
      search = findPrimary();
      const again = () => {
        search = undefined;
      };
      search.then(again, () => setTimeout(again, retryMs).unref());
    }
    return search;
  }

  async function findPrimary(): Promise<Server> {
    const candidate = await probeAll();
    cluster ??= candidate.cluster;
    if (closed) candidate.end();
    else watch(candidate);
    return candidate.server;
  }

  /** Asks every server, and chooses among those that take writes the one that was promoted last, else the first of the URL. */
  async function probeAll(): Promise<Candidate> {
    const found: Candidate[] = [];
    const reasons: { readonly text: string; readonly error: unknown }[] = [];
    let isDecided = false;
    let onFirst: () => void = () => {};
    const first = new Promise<void>((resolve) => {
      onFirst = resolve;
    });
    const probes = servers.map(async (server) => {
      try {
        const candidate = await ask(server);
        if (isDecided) return candidate.end();
        found.push(candidate);
        onFirst();
      } catch (error) {
        reasons.push({ text: `${server.host}:${server.port}: ${(error as Error).message}`, error });
      }
    });
    await Promise.race([Promise.all(probes), first.then(() => sleep(graceMs))]);
    isDecided = true;
    if (found.length === 0) {
      const message = `no server takes writes (${reasons.map(({ text }) => text).join('; ')})`;
      throw Object.assign(new Error(message), { code: reasons.some(({ error }) => isFull(error)) ? fullState : '08006' });
    }
    if (new Set(found.map((each) => each.cluster ?? found.find((other) => other.cluster)?.cluster)).size > 1) {
      throw differentClusters(found);
    }
    found.sort((a, b) => servers.indexOf(a.server) - servers.indexOf(b.server));
    const chosen = found.length === 1 ? (found[0] as Candidate) : await latest(found);
    for (const each of found) if (each !== chosen) each.end();
    return chosen;
  }

  /** Asks a server, and refuses one of another cluster than before: it does not have the data. */
  async function ask(server: Server): Promise<Candidate> {
    const candidate = await probe(server, { target, connectTimeoutMs, openSocket });
    if (candidate.cluster === undefined || candidate.cluster === (cluster ?? candidate.cluster)) return candidate;
    candidate.end();
    throw new Error(
      `the server belongs to another cluster (system identifier ${candidate.cluster}, not ${cluster}): remove it from DATABASE_URL, or ` +
        'restart the gateway if the data was moved to it',
    );
  }

  /** Keeps the connection of the search, and checks on it that the server still responds and still takes writes. */
  function watch(candidate: Candidate): void {
    const { server, client } = candidate;
    watched?.end();
    watched = candidate;
    current = server;
    disconnect(({ url }) => url !== server.url);
    const lost = () => {
      clearInterval(timer);
      if (watched !== candidate) return;
      watched = undefined;
      candidate.end();
      replace(server);
    };
    const timer = setInterval(() => requireRole(client, target).catch(lost), checkEveryMs).unref();
    client.once('end', lost);
    void lookAround(candidate);
  }

  /** Looks for the primary again once another server takes writes too: it was promoted, and the old primary was not stopped. */
  async function lookAround(candidate: Candidate): Promise<void> {
    const others = servers.filter((each) => each !== candidate.server);
    for (let isAlone = true; isAlone; ) {
      await sleep(lookAroundEveryMs, undefined, { ref: false });
      if (watched !== candidate) return;
      const found = await Promise.allSettled(others.map(ask));
      for (const each of found) {
        if (each.status === 'rejected') continue;
        each.value.end();
        isAlone = false;
      }
    }
    if (watched !== candidate) return;
    current = undefined;
    find().catch(() => {}); // the next connection tries again
  }

  /**
   * Looks for the primary after `server` was lost; unless the server only was full, its connections are closed if there is none.
   */
  function replace(server: Server): void {
    if (current === server) current = undefined;
    if (closed) return;
    find().catch((error) => isFull(error) || disconnect(({ url }) => url === server.url));
  }

  function disconnect(isAffected: (server: Server) => boolean): void {
    for (const { socket, server } of tracked.values()) if (isAffected(server)) disconnectSocket(socket);
  }

  return {
    find,
    openSocket,
    track(client, socket, server) {
      tracked.set(client, { socket, server });
      client.once('end', () => tracked.delete(client));
    },
    failed(client, error) {
      const server = tracked.get(client)?.server;
      if (server && server === current && !isFull(error)) current = undefined;
    },
    close() {
      closed = true;
      watched?.end();
      watched = undefined;
      current = undefined;
    },
  };
}

async function latest(candidates: readonly Candidate[]): Promise<Candidate> {
  const segments = await Promise.all(candidates.map(({ client }) => readSegment(client).catch(() => '')));
  return candidates[segments.indexOf(segments.toSorted().at(-1) as string)] as Candidate;
}

/** Where a server accepts connections, as the driver reads its URL; the host may be the folder of a Unix socket. */
function readAddress(connectionString: string): Pick<Server, 'host' | 'port'> {
  const { host, port } = new pg.Client({ connectionString });
  return { host, port };
}

/**
 * The error when servers of different clusters take writes, so that it is unclear which of them has the data. Ends their
 * connections.
 */
function differentClusters(found: readonly Candidate[]): Error {
  for (const each of found) each.end();
  const list = found.map(({ server, cluster }) => `${server.host}:${server.port}: system identifier ${cluster}`).join('; ');
  const message = `servers of different clusters take writes (${list}); DATABASE_URL must name the servers of one cluster`;
  return Object.assign(new Error(message), { code: '08006' });
}

/** Fails what waits on a connection and removes it from its pool. */
function disconnectSocket(socket: Socket): void {
  socket.destroy(
    Object.assign(new Error('connection terminated: the server does not respond or is no longer the primary'), { code: '57P01' }),
  );
}

const fullState = '53300';

/** Whether the server is there and has only no connection left. */
const isFull = (error: unknown): boolean => (error as { code?: unknown }).code === fullState;
