import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';
import { RawJson, stringify } from '../raw-json.ts';
import type { VariablesText } from './editors.ts';
import { onceOnly } from './send-once.ts';
import type { TabResponses } from './tab-responses.ts';

/** What GraphiQL calls to send an operation. */
type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];

/**
 * Sends operations to the gateway that serves this page. A header from the Headers tab takes precedence over the API token.
 * Variables are sent as they are written: the gateway rejects numbers that JavaScript would change, and duplicates.
 *
 * @param variables the text of the variables, which GraphiQL has just parsed.
 * @param responses shows the responses: GraphiQL gets none, but those that have the schema.
 */
export function createFetcher(token: () => string, variables: VariablesText, responses: TabResponses): Fetcher {
  const sendOnce = onceOnly(send);
  return async (params, options) => {
    const headers = new Headers({ accept: 'application/json', 'content-type': 'application/json' });
    if (token()) headers.set('authorization', `Bearer ${token()}`);
    for (const [name, value] of Object.entries(options?.headers ?? {})) headers.set(name, String(value));
    const body = stringify({ ...params, ...(params.variables && { variables: new RawJson(variables.current()) }) });
    if (params.operationName === 'IntrospectionQuery') return send(headers, body);
    await responses.send(() => sendOnce(params.query, headers, body));
    return nothing();
  };
}

/** What GraphiQL takes for a response that has ended, and does not show. */
async function* nothing(): AsyncGenerator<never> {
  yield* [];
}

/** The URL is relative to the base of the page: a reverse proxy may serve the gateway below a path prefix. */
// biome-ignore lint/suspicious/noExplicitAny: GraphiQL shows whatever the response is
async function send(headers: Headers, body: string): Promise<any> {
  const response = await fetch('graphql', { method: 'POST', headers, body, credentials: 'same-origin' });
  const text = await response.text();
  try {
    const result = JSON.parse(text);
    if (!response.headers.has('idempotency-replayed')) return result;
    const note = 'This was executed before, and is not executed again: the result is the one of then.';
    return { ...result, extensions: { ...result.extensions, note } };
  } catch {
    throw new Error(`The response with status ${response.status} is not JSON. A proxy may have sent it: ${text.slice(0, 500)}`);
  }
}
