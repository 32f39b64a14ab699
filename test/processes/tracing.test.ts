import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';

/** A span as test/support/print-spans.mjs prints it. */
interface PrintedSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, unknown>;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';
const token = 'bootstrap-token-of-the-tracing-test';

let database: TestDatabase;
let gateway: ServeProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  const NODE_OPTIONS = `--import ${new URL('../support/print-spans.mjs', import.meta.url)}`;
  gateway = await serve({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: token, NODE_OPTIONS });
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

const printed = (): PrintedSpan[] =>
  gateway.output.stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as PrintedSpan] : []));

/** Sends a request with an id, as part of a trace, and returns its spans. */
async function spansOf(id: string, method: string, path: string, body: unknown): Promise<PrintedSpan[]> {
  const headers = { 'x-request-id': id, traceparent: `00-${traceId}-${callerSpan}-01` };
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

const outline = (spans: readonly PrintedSpan[]) => spans.map(({ name, kind }) => [name, kind]);
const [internal, server, client] = [0, 1, 2];

test('a request, its operation and its statements are spans within the trace of the caller, by either way of execution', async () => {
  const query = 'query Resolve($id: String!) { userGroup(by: { providedId: $id }) { name } }';
  for (const id of ['full-pipeline', 'fast-path', 'fast-path-again', 'compiled']) {
    const spans = await spansOf(id, 'POST', '/graphql', { query, variables: { id } });
    expect([id, outline(spans)]).toEqual([
      id,
      [
        ['POST /graphql', server],
        ['api-tokens-by-current-secret', client],
        ['query Resolve', internal],
        ['groups-by-provided-id', client],
      ],
    ]);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    const attributes = { 'http.request.method': 'POST', 'http.route': '/graphql', 'http.response.status_code': 200 };
    expect(spans[0]).toMatchObject({ parent: callerSpan, attributes });
    expect(spans[3]?.attributes).toEqual({ 'db.system.name': 'postgresql', 'db.query.summary': 'groups-by-provided-id' });
  }
});

test('a request that fails has its code in its span, but nothing that was sent', async () => {
  const [span] = await spansOf('failed', 'PUT', '/api/user/', { user_group_id: 'secret-of-nobody', name: 'secret' });
  const attributes = { 'http.response.status_code': 404, 'error.type': 'NOT_FOUND' };
  expect(span).toMatchObject({ name: 'PUT /api/user', attributes });
  expect(gateway.output.stdout).not.toMatch(new RegExp(`-of-nobody|${tokenPrefixes.apiToken}`));
});
