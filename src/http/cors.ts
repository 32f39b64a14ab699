import { problem } from './problem.ts';
import type { FindRoute } from './router.ts';
import type { Handler, HttpResponse, RequestHead, ResponseBody, Route } from './types.ts';

/** The request headers that scripts of other origins may set. */
const requestHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'X-Request-Id', 'traceparent'].join(', ');

/** The response headers that they may read. */
const responseHeaders = [
  ...['ETag', 'Idempotency-Replayed', 'Retry-After', 'RateLimit', 'RateLimit-Policy'],
  ...['X-Request-Id', 'Allow', 'WWW-Authenticate'],
].join(', ');

/** How long browsers may keep a permission, in seconds. */
const maxAgeSeconds = 600;

/**
 * Permits scripts of other origins to send requests and to read the responses (CORS), without credentials of the browser: the API
 * token is in a header that the script sets.
 */
export interface Cors {
  /** A route whose responses, errors too, the permitted origins may read. */
  permit(route: Route): Route;
  /** The same for errors that no route renders. */
  permitErrors(renderError: Handler['renderError']): Handler['renderError'];
  /** Finds routes as another function does, but for `OPTIONS` one that responds to preflight requests. */
  preflight(find: FindRoute): FindRoute;
}

/** Creates what permits the given origins. @param origins as browsers send them, such as `https://app.example.com`; or `*` alone: any. */
export function createCors(origins: readonly string[]): Cors {
  const isAny = origins.includes('*');
  const permitted = new Set(origins);
  const preflights = new WeakMap<Route, Route>();

  /** The origin that the response names; undefined if it is not permitted. */
  function allowedOrigin({ headers: { origin } }: RequestHead): string | undefined {
    if (isAny) return '*';
    return origin !== undefined && permitted.has(origin) ? origin : undefined;
  }

  function permitResponse<Body extends ResponseBody>(response: HttpResponse<Body>, request: RequestHead): HttpResponse<Body> {
    const { vary } = response.headers;
    const origin = allowedOrigin(request);
    const headers = {
      ...response.headers,
      // Responses differ by origin, unless any is permitted.
      ...(!isAny && { vary: vary === undefined ? 'Origin' : `${vary}, Origin` }),
      ...(origin !== undefined && {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': responseHeaders,
      }),
    };
    return { ...response, headers };
  }

  const permitErrors: Cors['permitErrors'] = (renderError) => (error, request) =>
    permitResponse(renderError(error, request), request);

  function preflightOf(route: Route): Route {
    const methods = [...route.methods, 'OPTIONS'].join(', ');
    return {
      ...{ ...route, methods: ['OPTIONS'], credential: 'ignored', renderError: permitErrors(problem) },
      handle(request) {
        const origin = allowedOrigin(request);
        const headers = {
          allow: methods,
          ...(!isAny && { vary: 'Origin' }),
          ...(origin !== undefined && {
            'access-control-allow-origin': origin,
            'access-control-allow-methods': route.methods.join(', '),
            'access-control-allow-headers': requestHeaders,
            'access-control-max-age': String(maxAgeSeconds),
          }),
        };
        return { status: 200, headers, body: '' };
      },
    };
  }

  return {
    permitErrors,
    permit(route) {
      const permittedRoute: Route = {
        ...route,
        handle: async (request) => permitResponse(await route.handle(request), request),
        renderError: permitErrors(route.renderError),
      };
      preflights.set(permittedRoute, preflightOf(route));
      return permittedRoute;
    },
    preflight: (find) => (path, method) => {
      const match = find(path, method);
      const route = method === 'OPTIONS' && match ? preflights.get(match.route) : undefined;
      return match && route ? { ...match, route } : match;
    },
  };
}
