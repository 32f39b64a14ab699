import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { issueToken } from '../../src/domain/tokens.ts';
import { testKey } from '../../test/support/keys.ts';
import { sendGraphQL } from '../client.ts';
import { endDatabase, type GatewayProcess, requireHandled, startGateway } from '../gateway.ts';
import { until } from '../wait.ts';
import type { RowContext } from './fault-row.ts';

const createToken = `mutation ($scopes: [String!]!) {
  result: createApiToken(input: { name: "drill", environmentTag: TESTING, scopes: $scopes }) {
    ... on CreateApiTokenPayload { secret apiToken { id } } ... on Error { code message }
  }
}`;

type Settings = Readonly<Record<string, string>>;

/** A `DATA_DIR` with the gateways that were started on it. Everything ends with the row. */
export class Instance {
  readonly dataDir: string;
  /** An API token of the scope `admin`, which every start accepts. */
  readonly admin = issueToken('apiToken');
  /** An API token of the Testing environment that reads and writes groups; set by {@link createToken}. */
  token = '';
  readonly #settings: Settings;
  readonly #onEnd: RowContext['onEnd'];

  constructor({ folder, onEnd }: RowContext, settings: Settings = {}, name = 'data') {
    this.dataDir = join(folder, name);
    this.#settings = { ENCRYPTION_KEYS: testKey, ...settings };
    if (!existsSync(this.dataDir)) mkdirSync(this.dataDir);
    onEnd(() => endDatabase(this.dataDir));
    this.#onEnd = onEnd;
  }

  /** Starts a gateway on it, `program` if it is not this checkout's. @throws Error with its log when it exits instead. */
  async start(settings: Settings = {}, args: readonly string[] = [], program?: string): Promise<GatewayProcess> {
    let starting: Promise<GatewayProcess> | undefined;
    this.#onEnd(async () => {
      const gateway = await starting?.catch(() => undefined);
      if (!gateway) return;
      await endGateway(gateway, 'SIGKILL');
      requireHandled(gateway);
    });
    starting = startGateway(this.dataDir, this.admin, { ...this.#settings, ...settings }, args, program);
    return starting;
  }

  /** Creates an API token, and keeps it as `token`. */
  async createToken(port: number, scopes: readonly string[] = ['groups:read', 'groups:write']): Promise<string> {
    const { json, text } = await sendGraphQL(port, createToken, { scopes }, { token: this.admin });
    const secret = json?.data?.result?.secret;
    if (!secret) throw new Error(`No API token was created: ${text}`);
    this.token = secret;
    return secret;
  }

  /** The first process of PostgreSQL, by its lock file; undefined while it does not run. */
  postmaster(): number | undefined {
    return Number.parseInt(this.#lockFile()[0] ?? '', 10) || undefined;
  }

  /** The same, to send it a signal: 0 instead would be every process of the drill. @throws Error when it does not run. */
  runningPostmaster(): number {
    const pid = this.postmaster();
    if (pid === undefined) throw new Error(`PostgreSQL does not run on ${this.dataDir}.`);
    return pid;
  }

  /** The URL of the gateway's database in the PostgreSQL that runs on it. */
  databaseUrl(): string {
    const password = readFileSync(join(this.dataDir, 'postgres-password'), 'utf8').trim();
    return `postgresql://gateway:${password}@127.0.0.1:${this.#lockFile()[3]}/user_group_gateway`;
  }

  /** Uses the database directly. */
  async withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result> {
    const database = connectDatabase({ connectionString: this.databaseUrl() });
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  }

  #lockFile(): string[] {
    const file = join(this.dataDir, 'postgres/postmaster.pid');
    try {
      return readFileSync(file, 'utf8').split('\n');
    } catch {
      return [];
    }
  }
}

/** Sends a signal to a gateway and waits until it has exited. @returns how it exited. */
export async function endGateway(gateway: GatewayProcess, signal: NodeJS.Signals): Promise<string> {
  if (gateway.ended() === undefined) process.kill(gateway.pid, signal);
  return until(() => gateway.ended(), `the gateway exits after ${signal}`);
}
