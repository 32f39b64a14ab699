import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../src/database/client.ts';
import { issueToken } from '../src/tokens.ts';
import { type BundledServer, startServerOn } from '../test/support/bundled-server.ts';
import { DataFolder } from '../test/support/data-folder.ts';
import { testKey } from '../test/support/keys.ts';
import { until } from '../test/support/process.ts';
import { sendGraphQL } from './client.ts';
import { withDatabase } from './database.ts';
import type { Ends } from './ends.ts';
import { type GatewayProcess, requireHandled, startGateway } from './gateway.ts';

const createToken = `mutation ($scopes: [Scope!]!, $environment: EnvironmentTag!) {
  result: createApiToken(input: { name: "drill", environmentTag: $environment, scopes: $scopes }) {
    ... on CreateApiTokenPayload { secret apiToken { id } } ... on Error { code message }
  }
}`;

type Settings = Readonly<Record<string, string>>;

/** A `DATA_DIR` with the gateways that were started on it. Everything ends with the scenario. */
export class Instance extends DataFolder {
  /** An API token of the scope `admin`, which every start accepts. */
  readonly admin = issueToken('apiToken');
  /** The API token that {@link createToken} created last. */
  token = '';
  readonly #settings: Settings;
  readonly #ends: Ends;

  constructor(ends: Ends, settings: Settings = {}, name = 'data') {
    super(join(ends.folder, name));
    this.#settings = { ENCRYPTION_KEYS: testKey, ...settings };
    mkdirSync(this.path, { recursive: true });
    ends.onEnd(() => this.end());
    this.#ends = ends;
  }

  /** Starts a gateway on it. @throws Error with its log when it exits instead. */
  async start(settings: Settings = {}): Promise<GatewayProcess> {
    let starting: Promise<GatewayProcess> | undefined;
    this.#ends.onEnd(async () => {
      const gateway = await starting?.catch(() => undefined);
      if (!gateway) return;
      await endGateway(gateway, 'SIGKILL');
      requireHandled(gateway);
    });
    starting = startGateway(this.path, this.admin, { ...this.#settings, ...settings });
    const gateway = await starting;
    this.#ends.onFailure(gateway.log);
    return gateway;
  }

  /** Creates an API token with these scopes of the GraphQL schema, by default of the Testing environment; keeps it as `token`. */
  async createToken(
    port: number,
    scopes: readonly string[] = ['GROUPS_READ', 'GROUPS_WRITE'],
    environment: 'TESTING' | 'CUSTOMER' = 'TESTING',
  ): Promise<string> {
    const { json, text } = await sendGraphQL(port, createToken, { scopes, environment }, { token: this.admin });
    const secret = json?.data?.result?.secret;
    if (!secret) throw new Error(`No API token was created: ${text}`);
    this.token = secret;
    return secret;
  }

  /**
   * The first process of PostgreSQL, to send it a signal: 0 instead would be every process of the drill.
   *
   * @throws Error when it does not run.
   */
  runningPostmaster(): number {
    const pid = this.postmaster();
    if (pid === undefined) throw new Error(`PostgreSQL does not run on ${this.path}.`);
    return pid;
  }

  /** Uses the database directly. */
  withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result> {
    return withDatabase(this.databaseUrl(), use);
  }
}

/** Sends a signal to a gateway and waits until it has exited. @returns how it exited. */
export async function endGateway(gateway: GatewayProcess, signal: NodeJS.Signals): Promise<string> {
  if (gateway.ended() === undefined) process.kill(gateway.pid, signal);
  return until(() => gateway.ended(), `the gateway exits after ${signal}`);
}

/**
 * Creates a database by a gateway that is stopped again, and starts PostgreSQL on it without one, so that it is down for as long
 * as a scenario wants. It ends with the scenario.
 */
export async function startPostgres(instance: Instance, onEnd: Ends['onEnd']): Promise<BundledServer> {
  const gateway = await instance.start();
  await instance.createToken(gateway.port);
  await endGateway(gateway, 'SIGTERM');
  const server = await startServerOn(instance.path);
  onEnd(() => server.remove());
  return server;
}
