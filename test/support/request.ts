import { exchange, type Reply, type RequestOptions } from './exchange.ts';
import { assertDocumented } from './openapi.ts';

export type { Reply, RequestOptions };

/** Sends a request like {@link exchange}. Rejects, too, when `openapi.yaml` does not describe the response. */
export async function sendRequest(url: string, method: string, path: string, options?: RequestOptions): Promise<Reply> {
  const reply = await exchange(url, method, path, options);
  assertDocumented(method, path, reply, options?.body);
  return reply;
}
