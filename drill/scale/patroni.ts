import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresUser } from '../../src/database/bundled.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { until } from '../../test/support/process.ts';
import { descendants, isAlive } from '../../test/support/processes.ts';
import { deployFile, type Program, startProgram } from './programs.ts';

/** A server that Patroni manages. */
interface Node {
  readonly name: string;
  readonly port: number;
  readonly apiPort: number;
  readonly dataDir: string;
  patroni: Program;
}

/** Three PostgreSQL servers with Patroni, etcd and HAProxy, from the example files. */
export interface PatroniCluster {
  /** The URL through HAProxy, which leads to the primary. */
  readonly proxyUrl: string;
  /** How long the lock of a leader lasts, in seconds. */
  readonly ttlSeconds: number;
  /** Kills the PostgreSQL of the leader; Patroni may restart it or replace it. */
  killPostgres(): Promise<void>;
  /** Kills the leader's Patroni and leaves its PostgreSQL running. */
  killPatroni(): Promise<void>;
  /** Kills both, as the end of a machine does. */
  killMachine(): Promise<void>;
  /** Asks Patroni to make another server the leader. */
  switchOver(): Promise<void>;
  /** Starts what was killed, and waits until there is a leader, and a standby that has every acknowledged write. */
  untilHealthy(): Promise<void>;
  /** Which server is the leader, and its timeline. */
  leader(): Promise<string>;
  /** The database on a standby. */
  standbyUrl(): Promise<string>;
  stop(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: number | string;
}

const password = 'drill';

/** Starts the cluster and creates the gateway's role and database. */
export async function startPatroniCluster(folder: string): Promise<PatroniCluster> {
  const [etcdPort = 0, peerPort, proxyPort = 0, ...ports] = await freePorts(9);
  const programs: Program[] = [];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const etcd = startProgram(folder, 'etcd', [
    ...(['etcd', '--name', 'etcd', '--data-dir', makeFolder(join(folder, 'etcd'))] as const),
    '--listen-client-urls',
    etcdUrl,
    '--advertise-client-urls',
    etcdUrl,
    '--listen-peer-urls',
    `http://127.0.0.1:${peerPort}`,
    '--initial-advertise-peer-urls',
    `http://127.0.0.1:${peerPort}`,
    '--initial-cluster',
    `etcd=http://127.0.0.1:${peerPort}`,
  ]);
  programs.push(etcd);
  const configuration = deployFile(folder, 'patroni/patroni.yml');

  const startPatroni = (node: Omit<Node, 'patroni'>): Program => {
    const { name, port, apiPort, dataDir } = node;
    return startProgram(folder, name, ['patroni', configuration], {
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: `127.0.0.1:${etcdPort}`,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${apiPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${apiPort}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_DATA_DIR: dataDir,
      PATRONI_POSTGRESQL_BIN_DIR: '/usr/lib/postgresql/15/bin',
      PATRONI_POSTGRESQL_PGPASS: `${dataDir}.pgpass`,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: password,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: password,
      PATRONI_REWIND_USERNAME: 'rewind',
      PATRONI_REWIND_PASSWORD: password,
    });
  };
  makeFolder(join(folder, 'data'));
  const nodes = [0, 1, 2].map((index): Node => {
    const node = {
      name: `pg${index + 1}`,
      port: ports[index] as number,
      apiPort: ports[index + 3] as number,
      dataDir: join(folder, 'data', `pg${index + 1}`),
    };
    return { ...node, patroni: startPatroni(node) };
  });
  const log = () => nodes.map(({ name, patroni }) => `--- ${name}\n${patroni.log()}`).join('\n');

  const addressOf = ({ port }: Node) => `127.0.0.1:${port}`;
  const haproxy = startProgram(folder, 'haproxy', ['haproxy', '-db', '-f', deployFile(folder, 'haproxy/haproxy.cfg')], {
    LISTEN_ADDRESS: `127.0.0.1:${proxyPort}`,
    ...Object.fromEntries(
      nodes.flatMap((node, index) => [
        [`PG${index + 1}`, addressOf(node)],
        [`PG${index + 1}_API_PORT`, String(node.apiPort)],
      ]),
    ),
  });
  programs.push(haproxy);

  async function members(): Promise<readonly Member[]> {
    for (const { apiPort } of nodes) {
      const reply = await get(`http://127.0.0.1:${apiPort}/cluster`);
      if (reply) return (reply as { members: readonly Member[] }).members;
    }
    return [];
  }

  async function leaderNode(): Promise<Node> {
    const member = await until(
      async () => (await members()).find(({ role }) => role === 'leader'),
      () => `there is a leader\n${log()}`,
    );
    return nodes.find(({ name }) => name === member.name) as Node;
  }

  const isHealthy = (all: readonly Member[]): boolean =>
    all.length === nodes.length &&
    all.some(({ role, state }) => role === 'leader' && state === 'running') &&
    all.some(({ role }) => role === 'sync_standby') &&
    all.every(({ state, lag }) => ['running', 'streaming'].includes(state) && !Number(lag ?? 0));

  async function untilHealthy(): Promise<void> {
    await until(
      async () => isHealthy(await members()),
      () => `three servers are healthy\n${log()}`,
      120_000,
    );
  }

  const cluster: PatroniCluster = {
    proxyUrl: `postgresql://gateway:${password}@127.0.0.1:${proxyPort}/gateway`,
    ttlSeconds: Number(/^ *ttl: (\d+)$/m.exec(readFileSync(configuration, 'utf8'))?.[1]),
    async killPostgres() {
      killPostmaster((await leaderNode()).dataDir);
    },
    async killPatroni() {
      process.kill((await leaderNode()).patroni.pid, 'SIGKILL');
    },
    async killMachine() {
      const { patroni, dataDir } = await leaderNode();
      process.kill(patroni.pid, 'SIGKILL');
      killPostmaster(dataDir);
    },
    async switchOver() {
      const { name, apiPort } = await leaderNode();
      const response = await fetch(`http://127.0.0.1:${apiPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: name }),
      });
      if (!response.ok) throw new Error(`Patroni refused the switchover: ${await response.text()}`);
    },
    async untilHealthy() {
      for (const node of nodes) if (!isAlive(node.patroni.pid)) node.patroni = startPatroni(node);
      await untilHealthy();
    },
    async leader() {
      const leader = (await members()).find(({ role }) => role === 'leader');
      return `${leader?.name} timeline ${leader?.timeline}`;
    },
    async standbyUrl() {
      const leader = await leaderNode();
      const standby = nodes.find((node) => node !== leader) as Node;
      return `postgresql://gateway:${password}@${addressOf(standby)}/gateway`;
    },
    async stop() {
      await Promise.all(nodes.map(({ patroni }) => patroni.stop()));
      for (const { dataDir } of nodes) killPostmaster(dataDir);
      await Promise.all(programs.map((program) => program.stop()));
    },
  };
  try {
    await untilHealthy();
    const leader = await leaderNode();
    await createDatabase(`postgresql://postgres:${password}@${addressOf(leader)}/postgres`);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`create role gateway login password '${password}'`);
  await client.query('create database gateway owner gateway');
  await client.end();
}

async function get(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return await response.json();
  } catch {
    return undefined;
  }
}

/** Kills the postmaster of a data directory, with the processes below it, if it runs. */
function killPostmaster(dataDir: string): void {
  const file = join(dataDir, 'postmaster.pid');
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0;
  if (!pid || !existsSync(`/proc/${pid}`) || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dataDir)) return;
  for (const each of descendants(pid)) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // it has ended since
    }
  }
}

function makeFolder(path: string): string {
  mkdirSync(path, { mode: 0o700, recursive: true });
  chmodSync(path, 0o700);
  const user = postgresUser();
  if (user) chownSync(path, user.uid, user.gid);
  return path;
}
