import type { Fetcher } from '@graphiql/toolkit';

/** Sends operations to the gateway that serves this page. A header from the Headers tab takes precedence over the API token. */
export function createFetcher(token: () => string): Fetcher {
  return async (params, options) => {
    const headers = new Headers({ accept: 'application/json', 'content-type': 'application/json' });
    if (token()) headers.set('authorization', `Bearer ${token()}`);
    for (const [name, value] of Object.entries(options?.headers ?? {})) headers.set(name, String(value));
    // Relative to the base of the page: a reverse proxy may serve the gateway below a path prefix.
    const response = await fetch('graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify(params),
      credentials: 'same-origin',
    });
    const text = await response.text();
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`The response with status ${response.status} is not JSON. A proxy may have sent it: ${text.slice(0, 500)}`);
    }
  };
}
