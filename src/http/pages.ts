import { type ErrorCatalogEntry, type ErrorCode, errorCatalog } from '../domain/errors.ts';
import { methodNotAllowed, problem } from './problem.ts';
import type { HttpRequest, HttpResponse, Route } from './types.ts';

/** A route that anybody may read, and that changes nothing. */
export function page(handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>): Route {
  return {
    credential: 'ignored',
    handle: (request) =>
      request.method === 'GET' || request.method === 'HEAD' ? handle(request) : methodNotAllowed(request, 'GET, HEAD'),
    renderError: problem,
  };
}

/** What is here, by path. */
const contents: Readonly<Record<string, string>> = {
  '/graphql': 'The GraphQL API; in a browser, a playground to try it in',
  '/api/user': 'The legacy REST API: GET (or QUERY) gets or creates a user group, PUT updates it, POST rotates its token',
  '/docs/errors': 'What each error code means, and what to do',
  '/docs/docs-config': 'What each diagnostic of the configuration file validator means, with examples',
  '/schemas/docs-config.json': 'The JSON Schema of the configuration file, for editors',
  '/livez': 'Whether the process lives',
  '/readyz': 'Whether it can serve: the database is reachable and up to date',
};

/** `GET /`: what is here, for people or for programs, whichever asks. */
export const contentsPage = page((request) =>
  wantsHtml(request)
    ? layOut(
        'User group gateway',
        `<p>Knows the user groups that view embedded dashboards.</p><dl>${Object.entries(contents)
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

/** An answer in JSON. */
export function json(status: number, body: unknown, contentType = 'application/json'): HttpResponse {
  return { status, headers: { 'content-type': contentType }, body: JSON.stringify(body) };
}

/** An answer that is a whole page of HTML, which may bring styles and nothing else. */
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
