import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { issueApiToken } from '../../src/domain/api-tokens.ts';
import type { Scope } from '../../src/domain/caller.ts';
import { buildGateway } from '../../src/gateway.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { logForm } from '../../src/logger.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { testKeys } from './keys.ts';
import { assertDocumented } from './openapi.ts';

/** A complete response. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
  readonly json: any;
}

/** What a request may have in addition to its method and path. */
export interface RequestOptions {
  /** The API token; `null` sends none. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
  /** Text or bytes as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** A gateway in this process, on a real socket and a database of its own. */
export interface TestGateway {
  readonly url: string;
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
  close(): Promise<void>;
}

/** Starts a gateway on a database: a new one, or one that another gateway of the test uses already. */
export async function startGateway(shared?: TestDatabase, options?: Parameters<typeof buildGateway>[3]): Promise<TestGateway> {
  const database = shared ?? (await createTestDatabase());
  const log: string[] = [];
  const gateway = buildGateway(
    database,
    testKeys,
    pino({ ...logForm, level: 'debug' }, { write: (line: string) => void log.push(line) }),
    options,
  );
  gateway.server.listen(0, '127.0.0.1');
  await once(gateway.server, 'listening');
  const url = `http://127.0.0.1:${(gateway.server.address() as AddressInfo).port}`;

  const issue: TestGateway['issue'] = async ({
    environment = 'Testing',
    scopes = ['groups:read', 'groups:write'],
    expiresAt = null,
  } = {}) => {
    const request = { name: 'test', environmentTag: environment, scopes, expiresAt: null };
    const { secret, apiToken } = await issueApiToken(database.prisma, request);
    // Set afterwards, because an expired token cannot be issued.
    if (expiresAt) await database.prisma.apiToken.update({ where: { id: apiToken.id }, data: { expiresAt } });
    return { secret, id: apiToken.id };
  };
  const { secret: token } = await issue();
  const send: TestGateway['send'] = (method, path, options = {}) => sendRequest(url, method, path, { token, ...options });
  return {
    ...{ url, database, token, log, issue, send },
    graphql: (query, variables, options = {}) => send('POST', '/graphql', { body: { query, variables }, ...options }),
    async close() {
      gateway.server.close();
      gateway.server.closeAllConnections();
      await gateway.close();
      if (!shared) await database.close();
    },
  };
}

/** Sends a request as legacy callers do: unlike `fetch`, with a body on any method. Rejects when the OpenAPI document does not describe the response. */
export function sendRequest(url: string, method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
  const { token, body } = options;
  const payload =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const headers = {
    ...(token != null && { authorization: `Token ${token}` }),
    ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, url), { method, headers }, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      const replyHeaders = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
      const reply = { status: incoming.statusCode ?? 0, headers: replyHeaders, text, json: parseJson(text) };
      try {
        assertDocumented(method, path, reply);
        resolve(reply);
      } catch (error) {
        reject(error);
      }
    });
    request.once('error', reject);
    request.end(payload);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
