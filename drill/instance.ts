import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase, type Database } from '../src/database/client.ts';
import { issueToken } from '../src/tokens.ts';
import { type BundledServer, startServerOn } from '../test/support/bundled-server.ts';
import { DataFolder } from '../test/support/data-folder.ts';
import { testKey } from '../test/support/keys.ts';
import { binary, launch, until, untilServing } from '../test/support/process.ts';
import { sendGraphQL } from './client.ts';
import type { ScenarioContext } from './scenario.ts';

type Settings = Readonly<Record<string, string>>;

/** A gateway in a process of its own, as operators run it. */
export interface GatewayProcess {
  readonly port: number;
  readonly pid: number;
  /** How it exited, if it has. */
  ended(): string | undefined;
}

const createToken = `mutation ($scopes: [Scope!]!, $environment: EnvironmentTag!) {
  result: createApiToken(input: { name: "drill", environmentTag: $environment, scopes: $scopes }) {
    ... on CreateApiTokenPayload { secret apiToken { id } } ... on Error { code message }
  }
}`;

/** A `DATA_DIR` with the gateways that were started on it. Everything ends with the scenario. */
export class Instance extends DataFolder {
  /** An API token of the scope `admin`, which every start accepts. */
  readonly admin = issueToken('apiToken');
  /** The API token that {@link createToken} created last. */
  token = '';
  readonly #settings: Settings;
  readonly #context: ScenarioContext;

  constructor(context: ScenarioContext, settings: Settings = {}, name = 'data') {
    super(join(context.folder, name));
    this.#settings = { ENCRYPTION_KEYS: testKey, ...settings };
    this.#context = context;
    mkdirSync(this.path, { recursive: true });
    context.onEnd(() => this.end());
  }

  /** Starts `serve` on it and waits until it listens. @throws Error with its log when it exits instead. */
  async start(settings: Settings = {}): Promise<GatewayProcess> {
    const { onEnd, onFailure, expect } = this.#context;
    let end = async () => {};
    onEnd(() => end());
    const environment = { DATA_DIR: this.path, BOOTSTRAP_API_TOKEN: this.admin, ...this.#settings, ...settings };
    const running = launch(process.execPath, [binary, 'serve'], environment);
    const { child, output } = running;
    onFailure(() => output.stderr);
    end = async () => {
      child.kill('SIGKILL');
      await running.ended;
      const unhandled = output.stderr.split('\n').find((line) => line.includes('"msg":"a failure was not handled'));
      expect(unhandled === undefined, `a gateway logged a failure that was not handled: ${unhandled}`);
    };
    const { url } = await untilServing(running);
    return {
      port: Number(new URL(url).port),
      pid: child.pid ?? 0,
      ended: () => child.signalCode ?? (child.exitCode === null ? undefined : `exit status ${child.exitCode}`),
    };
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

  /** The first process of PostgreSQL, to send it a signal. @throws Error when it does not run: 0 would be the drill. */
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

/** Uses a database directly. */
export async function withDatabase<Result>(url: string, use: (database: Database) => Promise<Result>): Promise<Result> {
  const database = connectDatabase({ connectionString: url });
  try {
    return await use(database);
  } finally {
    await database.close();
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
export async function startPostgres(instance: Instance, { onEnd }: ScenarioContext): Promise<BundledServer> {
  const gateway = await instance.start();
  await instance.createToken(gateway.port);
  await endGateway(gateway, 'SIGTERM');
  const server = await startServerOn(instance.path);
  onEnd(() => server.remove());
  return server;
}
