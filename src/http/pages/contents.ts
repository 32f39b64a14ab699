import { prefersHtml } from '../media-types.ts';
import type { HttpRequest, HttpResponse, Route } from '../types.ts';
import { html } from './html.ts';
import { href, renderPage } from './layout.ts';
import { json } from './page.ts';

/** `GET /`: the listed routes, as HTML for browsers and as JSON otherwise. */
export function renderContents(request: HttpRequest, routes: readonly Route[]): HttpResponse {
  const listed = routes.filter(({ isListed }) => isListed);
  const response = prefersHtml(request.headers.accept) ? renderHtml(request, listed) : renderJson(listed);
  return { ...response, headers: { ...response.headers, vary: 'Accept' } };
}

function renderHtml(request: HttpRequest, routes: readonly Route[]): HttpResponse {
  const entries = routes.map(
    ({ path, description }) => html`
<dt><a href="${href(path)}"><code>${path}</code></a></dt>
<dd>${description}</dd>`,
  );
  const main = html`<p>Manages the user groups that view your dashboards.</p>
<dl>${entries}</dl>`;
  return renderPage(request, { title: 'User group gateway', main });
}

function renderJson(routes: readonly Route[]): HttpResponse {
  const contents = Object.fromEntries(routes.map(({ path, description }) => [path, description]));
  return json(200, { name: 'user-group-gateway', contents });
}
