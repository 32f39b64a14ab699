import { type ErrorCatalogEntry, type ErrorCode, errorCatalog } from '../domain/errors.ts';
import { methodNotAllowed, problem } from './problem.ts';
import type { HttpRequest, HttpResponse, Route } from './types.ts';

/** A read-only route that needs no credential. */
export function page(handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>): Route {
  return {
    credential: 'ignored',
    handle: (request) =>
      request.method === 'GET' || request.method === 'HEAD' ? handle(request) : methodNotAllowed(request, 'GET, HEAD'),
    renderError: problem,
  };
}

/** The available paths and what they serve. */
const contents: Readonly<Record<string, string>> = {
  '/graphql': 'GraphQL API; in a browser, the playground',
  '/api/user': 'Legacy REST API: GET (or QUERY) gets or creates a user group, PUT updates it, POST rotates its token',
  '/docs/errors': 'Error codes: meaning and remedy',
  '/docs/docs-config': 'Diagnostics of the configuration file validator, with examples',
  '/schemas/docs-config.json': 'JSON Schema of the configuration file, for editors',
  '/livez': 'Liveness check',
  '/readyz': 'Readiness check: the database is reachable and fully migrated',
};

/** `GET /`: the available paths, as HTML for browsers and as JSON otherwise. */
export const contentsPage = page((request) =>
  wantsHtml(request)
    ? layOut(
        'User group gateway',
        `<p>Manages the user groups that view your dashboards.</p><dl>${Object.entries(contents)
          .map(([path, text]) => `<dt><a href="${path}">${path}</a></dt><dd>${escapeHtml(text)}</dd>`)
          .join('')}</dl>`,
      )
    : json(200, { name: 'user-group-gateway', contents }),
);

/** `GET /docs/errors`: every error code. */
export const errorsPage = page(() =>
  layOut('Error codes', (Object.keys(errorCatalog) as ErrorCode[]).map((code) => describe(code, errorCatalog[code])).join('')),
);

/** `GET /docs/errors/<CODE>`: one error code, if there is such a code. */
export function errorPage(code: string): Route | undefined {
  if (!Object.hasOwn(errorCatalog, code)) return undefined;
  return page(() => layOut(code, describe(code, errorCatalog[code as ErrorCode])));
}

/** A JSON response. */
export function json(status: number, body: unknown, contentType = 'application/json'): HttpResponse {
  return { status, headers: { 'content-type': contentType }, body: JSON.stringify(body) };
}

/** An HTML page as a response. Its content security policy allows inline styles only. */
export function html(body: string): HttpResponse {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  };
  return { status: 200, headers, body };
}

/** A page around `main`, which is HTML already. */
function layOut(title: string, main: string): HttpResponse {
  return html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
  body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
  dt { margin-top: 1rem; font-family: ui-monospace, monospace; }
  dd { margin: 0; opacity: 0.8; }
</style>
<h1>${escapeHtml(title)}</h1>
${main}
</html>
`);
}

function describe(code: string, { status, title, remedy }: ErrorCatalogEntry): string {
  return `<dl><dt><a href="/docs/errors/${code}">${code}</a> (${status})</dt><dd>${escapeHtml(title)}. ${escapeHtml(remedy)}</dd></dl>`;
}

const wantsHtml = ({ headers }: HttpRequest): boolean => headers.accept?.includes('text/html') ?? false;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
