import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FieldNode, getOperationAST, Kind, parse, validate, valueFromASTUntyped } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { schema } from '../../src/schema.ts';

/** A response of a script. Without a member for the body, it has none. */
export interface ScriptedResponse {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the field of the operation returns, under whatever name the client has given it. */
  readonly result?: unknown;
  /** Errors of the operation. */
  readonly errors?: readonly object[];
  /** The whole body. */
  readonly json?: unknown;
  readonly text?: string;
  readonly delayMs?: number;
  /** The connection is reset before a response; its body is cut off; it is never sent; it is sent byte by byte. */
  readonly fault?: 'reset' | 'cut' | 'silent' | 'drip';
}

/** A request as it arrived. */
export interface SeenRequest {
  /** When, on a clock that never jumps. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of an operation: its only field, the arguments of it, and why the gateway would reject them. */
  readonly field: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each field has its own
  readonly arguments: any;
  readonly responseKey: string;
  readonly problems: readonly string[];
}

/** How long a response that drips takes for each byte. */
const dripMs = 50;

/** Starts a server that responds as told, one response for each request, the last one again and again. */
export async function startScriptedServer(responses: readonly ScriptedResponse[]) {
  const requests: SeenRequest[] = [];
  const timers: NodeJS.Timeout[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const seen = describe(request, body);
    requests.push(seen);
    const scripted = responses[Math.min(requests.length, responses.length) - 1] ?? { status: 500 };
    const { delayMs = 0 } = scripted;
    const send = () => respond(request, response, scripted, seen.responseKey, timers);
    timers.push(setTimeout(send, delayMs));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      for (const timer of timers) clearInterval(timer);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function describe({ method = '', url = '', headers }: IncomingMessage, body: string): SeenRequest {
  const seen = { atMs: performance.now(), method, path: url, headers, body };
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  const none = { field: undefined, arguments: undefined, responseKey: '' };
  if (!isJson) return { ...seen, ...none, problems: method === 'GET' || isForm ? [] : ['The content type is wrong.'] };
  const { query, variables } = JSON.parse(body);
  const document = parse(query);
  const operation = getOperationAST(document);
  const [field, ...others] = (operation?.selectionSet.selections ?? []).filter(
    (selection): selection is FieldNode => selection.kind === Kind.FIELD,
  );
  const { errors = [] } = getVariableValues(schema, operation?.variableDefinitions ?? [], variables ?? {});
  const values = field?.arguments?.map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]) ?? [];
  return {
    ...seen,
    field: [field, ...others].map((each) => each?.name.value).join(' '),
    arguments: Object.fromEntries(values),
    responseKey: (field?.alias ?? field?.name)?.value ?? '',
    problems: [...validate(schema, document), ...errors].map(({ message }) => message),
  };
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  scripted: ScriptedResponse,
  responseKey: string,
  timers: NodeJS.Timeout[],
): void {
  const { status = 200, headers, fault } = scripted;
  if (fault === 'silent') return;
  if (fault === 'reset') return void request.socket.resetAndDestroy();
  const body = Buffer.from(textOf(scripted, responseKey));
  const length = { 'content-length': body.length };
  if (fault === 'drip') {
    const bytes = Buffer.from(`HTTP/1.1 ${status} OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    let sent = 0;
    timers.push(setInterval(() => request.socket.write(bytes.subarray(sent, ++sent)), dripMs));
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', ...length, ...headers });
  if (fault !== 'cut') return void response.end(body);
  response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
}

function textOf({ result, errors, json, text }: ScriptedResponse, responseKey: string): string {
  if (text !== undefined) return text;
  if (json !== undefined) return JSON.stringify(json);
  return JSON.stringify({ errors, ...(result !== undefined && { data: { [responseKey]: result } }) });
}
