import { assertDocumented } from './openapi.ts';
import { type Reply, type RequestOptions, sendUnchecked } from './send-unchecked.ts';

export type { Reply, RequestOptions };

/** Sends a request like {@link sendUnchecked}. Rejects, too, when `openapi.yaml` does not describe the response. */
export async function sendRequest(url: string, method: string, path: string, options?: RequestOptions): Promise<Reply> {
  const reply = await sendUnchecked(url, method, path, options);
  assertDocumented(method, path, reply, options?.body);
  return reply;
}
