import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { startTracing } from '../../src/tracing.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';

/** A span as test/support/print-spans.mjs prints it. */
interface PrintedSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, unknown>;
  readonly status: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly links: readonly string[];
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';

let database: TestDatabase;
let gateway: ServeProcess;
let token: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const apiToken = { name: 'test', environmentTag: null, scopes: ['admin' as const], expiresAt: null };
  token = (await createApiToken(contextOn(database), apiToken)).secret;
  const preload = new URL('../support/print-spans.mjs', import.meta.url);
  gateway = await serve({ DATABASE_URL: database.url, NODE_OPTIONS: `--import ${preload}` });
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

const printed = (): PrintedSpan[] =>
  gateway.output.stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as PrintedSpan] : []));

/** Sends a request with an id, as part of a trace, and returns its spans. */
async function spansOf(id: string, method: string, path: string, body: unknown, parent = true): Promise<PrintedSpan[]> {
  const traceparent = `00-${traceId}-${callerSpan}-01`;
  const headers = { 'x-request-id': id, ...(parent && { traceparent }) };
  await sendRequest(gateway.url, method, path, { token, body, headers });
  // It ends last.
  const root = await until(
    () => printed().find(({ attributes }) => attributes['user_group_gateway.request_id'] === id),
    'the span of the request is printed',
  );
  const below = (span: PrintedSpan): PrintedSpan[] => [
    span,
    ...printed().flatMap((each) => (each.parent === span.spanId ? below(each) : [])),
  ];
  return below(root);
}

const document = 'query Resolve($id: String!) { userGroup(by: { providedId: $id }) { name } }';
const outline = (spans: readonly PrintedSpan[]) => spans.map(({ name, kind }) => [name, kind]);
const [internal, server, client] = [0, 1, 2];

test('a request, its operation and its statements are spans within the trace of the caller, by either way of execution', async () => {
  for (const way of ['full pipeline', 'fast path', 'fast path again', 'compiled']) {
    const spans = await spansOf(`graphql ${way}`.replaceAll(' ', '-'), 'POST', '/graphql', {
      query: document,
      variables: { id: way },
    });
    expect([way, outline(spans)]).toEqual([
      way,
      [
        ['POST /graphql', server],
        ['api-tokens-by-current-secret', client],
        ['query Resolve', internal],
        ['groups-by-provided-id', client],
      ],
    ]);
    expect(spans.map((span) => span.traceId)).toEqual(spans.map(() => traceId));
    expect(spans[0]).toMatchObject({
      parent: callerSpan,
      status: 0,
      attributes: { 'http.request.method': 'POST', 'http.route': '/graphql', 'http.response.status_code': 200 },
    });
    expect(spans[3]?.attributes).toEqual({ 'db.system.name': 'postgresql', 'db.query.summary': 'groups-by-provided-id' });
  }
});

test("so are those of the REST API; without a caller's trace, a trace begins", async () => {
  const created = await spansOf('rest', 'GET', '/api/user', { user_group_id: 'acme' }, false);
  expect(outline(created)).toEqual([
    ['GET /api/user', server],
    ['api-tokens-by-current-secret', client],
    ['mutation getOrCreateUserGroup', internal],
    ['groups-by-provided-id', client],
    ['insert-groups', client],
  ]);
  expect(created[0]?.parent).toBeUndefined();
  expect(created[0]?.traceId).not.toBe(traceId);
});

test('a request that fails has the error in its span, and its code, but nothing that was sent', async () => {
  const [span] = await spansOf('failed', 'PUT', '/api/user/', { user_group_id: 'secret-of-nobody', name: 'secret' });
  expect(span).toMatchObject({
    name: 'PUT /api/user',
    attributes: { 'http.response.status_code': 404, 'error.type': 'NOT_FOUND' },
  });
  const [unmatched] = await spansOf('unmatched', 'GET', '/nowhere/secret?secret', undefined);
  expect(unmatched).toMatchObject({ name: 'GET', attributes: { 'error.type': 'NOT_FOUND' } });
  expect(gateway.output.stdout).not.toMatch(new RegExp(`-of-nobody|nowhere|\\?|${tokenPrefixes.apiToken}`));
});

test('without an SDK there is no tracing', () => {
  expect(startTracing('1')).toBe(false);
});
