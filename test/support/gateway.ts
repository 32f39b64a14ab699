import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { buildGateway } from '../../src/gateway.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { logForm } from '../../src/log.ts';
import type { Scope } from '../../src/scopes.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { testKeys } from './keys.ts';
import { contextOn } from './queries.ts';
import { type Reply, type RequestOptions, sendRequest } from './request.ts';

export { type Reply, type RequestOptions, sendRequest };

/** A gateway in this process, on a real socket and a database of its own. */
export interface TestGateway {
  readonly url: string;
  readonly server: Server;
  readonly database: TestDatabase;
  /** A caller in the Testing environment with the scopes for groups. */
  readonly token: string;
  /** What the gateway logged, one JSON object per line. */
  readonly log: string[];
  issue(options?: {
    environment?: EnvironmentTag | null;
    scopes?: Scope[];
    expiresAt?: Date | null;
  }): Promise<{ secret: string; id: number }>;
  /** Sends a request; a GET may have a body. Uses the Testing token by default. */
  send(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Sends an operation to `/graphql`. */
  graphql(query: string, variables?: Record<string, unknown>, options?: RequestOptions): Promise<Reply>;
  /** Begins to stop, as a signal makes it. */
  drain(): void;
  close(): Promise<void>;
}

/** Starts a gateway on a database: a new one, or one that another gateway of the test uses already. */
export async function startGateway(
  shared?: TestDatabase,
  options?: Parameters<typeof buildGateway>[3],
  keys = testKeys,
): Promise<TestGateway> {
  const database = shared ?? (await createTestDatabase());
  const log: string[] = [];
  const gateway = buildGateway(
    database,
    keys,
    pino({ ...logForm, level: 'debug' }, { write: (line: string) => void log.push(line) }),
    options,
  );
  gateway.server.listen(0, '127.0.0.1');
  await once(gateway.server, 'listening');
  const url = `http://127.0.0.1:${(gateway.server.address() as AddressInfo).port}`;

  const issue: TestGateway['issue'] = async ({
    environment = 'Testing',
    scopes = ['groups:read', 'groups:write'] satisfies Scope[],
    expiresAt = null,
  } = {}) => {
    const request = { name: 'test', environmentTag: environment, scopes, expiresAt: null };
    const { secret, apiToken } = await createApiToken(contextOn(database), request);
    // Set afterwards, because an expired token cannot be issued.
    if (expiresAt) await database.prisma.apiToken.update({ where: { id: apiToken.id }, data: { expiresAt } });
    return { secret, id: apiToken.id };
  };
  const { secret: token } = await issue();
  const send: TestGateway['send'] = (method, path, options = {}) => sendRequest(url, method, path, { token, ...options });
  return {
    url,
    server: gateway.server,
    database,
    token,
    log,
    issue,
    send,
    graphql: (query, variables, options = {}) => send('POST', '/graphql', { body: { query, variables }, ...options }),
    drain: () => gateway.drain(),
    async close() {
      gateway.server.close();
      gateway.server.closeAllConnections();
      await gateway.close();
      if (!shared) await database.close();
    },
  };
}
