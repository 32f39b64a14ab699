import { prefersHtml } from '../media-types.ts';
import { paths } from '../paths.ts';
import type { HttpRequest, HttpResponse, Route } from '../types.ts';
import { type Html, href, html, type Layout } from './layout.ts';
import { json } from './page.ts';

/** `GET /`: the listed routes, as HTML for browsers and as JSON otherwise. */
export function renderContents(request: HttpRequest, routes: readonly Route[], layout: Layout): HttpResponse {
  const listed = routes.filter(({ isListed }) => isListed);
  const response = prefersHtml(request.headers.accept) ? renderHtml(request, listed, layout) : renderJson(listed);
  return { ...response, headers: { ...response.headers, vary: 'Accept' } };
}

function renderHtml(request: HttpRequest, routes: readonly Route[], layout: Layout): HttpResponse {
  const { served } = layout;
  const entries = routes.map(
    ({ path, description }) => html`
<div><dt><a href="${href(path)}"><code>${path}</code></a></dt>
<dd>${description}</dd></div>`,
  );
  const main = html`<p class="lead">Manages the user groups that view your dashboards: get or create a group by your own id, update it,
rotate its token, and find out who is viewing.</p>
<ul class="cards">
${served.console ? card(paths.console, 'Console', 'Find and change user groups and API tokens, and see what happened.') : ''}
${served.playground ? card(paths.graphql, 'Playground', 'Try the GraphQL API with examples and the documentation of every field.') : ''}
${card(paths.apiReference, 'API reference', 'Every request, response and error, with examples in curl, Python and JavaScript.')}
${card(paths.errors, 'Error codes', 'What each code means and what to do about it.')}
${card(paths.docsConfig, 'Diagnostics', 'What the configuration file validator reports, with examples.')}
</ul>
<h2>Every path</h2>
<dl class="list">${entries}</dl>`;
  return layout.render(request, { title: 'User group gateway', main });
}

const card = (path: string, title: string, text: string): Html =>
  html`<li><h2><a href="${href(path)}">${title}</a></h2><p>${text}</p></li>`;

function renderJson(routes: readonly Route[]): HttpResponse {
  const contents = Object.fromEntries(routes.map(({ path, description }) => [path, description]));
  return json(200, { name: 'user-group-gateway', contents });
}
