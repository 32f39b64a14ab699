import type { Route } from '../types.ts';
import { href, html, mainPages, type PageContent, type ServedPages } from './layout.ts';

/** The start page: what is here, with links. */
export function startPage(served: ServedPages, listed: readonly Route[]): PageContent {
  const cards = mainPages(served).map(({ path, name, text }) => html`<li><a href="${href(path)}">${name}</a><br>${text}</li>\n`);
  const entries = listed.map(
    ({ path, description }) => html`
<div><dt><a href="${href(path)}"><code>${path}</code></a></dt>
<dd>${description}</dd></div>`,
  );
  const main = html`<p class="lead">Manages the user groups that view your dashboards: get or create a group by your own id, update it,
rotate its token, and find out who is viewing.</p>
<ul class="cards">
${cards}</ul>
<h2>Every path</h2>
<dl class="list">${entries}</dl>`;
  return { title: 'User group gateway', main };
}
