import { randomBytes } from 'node:crypto';
import { inUtf8, mediaTypes } from '../media-types.ts';
import { paths } from '../paths.ts';
import type { HttpResponse, RequestHead, Route } from '../types.ts';
import { readWebFile } from '../web-files.ts';

/** Text that is HTML already. Only {@link html} creates it, so that everything else is escaped. */
export interface Html {
  readonly source: string;
}

type Content = string | number | Html | readonly Html[];

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, as content and as a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/**
 * Builds HTML from a template literal. Text and numbers are escaped; HTML and lists of HTML are inserted as they are.
 *
 * @example html`<p>${message}</p>`
 */
export function html(literals: TemplateStringsArray, ...values: readonly Content[]): Html {
  return { source: String.raw({ raw: literals }, ...values.map(render)) };
}

function render(value: Content): string {
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return 'source' in value ? value.source : value.map(({ source }) => source).join('');
}

/** Text with its parts between backticks as code. */
export function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** What a page shows below the header. */
export interface PageContent {
  readonly title: string;
  /** The title by default. */
  readonly heading?: Html;
  readonly main: Html;
  /** 200 by default. */
  readonly status?: number;
}

/** Which of the pages that can be switched off are served. */
export interface ServedPages {
  readonly console: boolean;
  readonly playground: boolean;
}

/** The main pages: the navigation and the start page link to them. */
function mainPages({ console, playground }: ServedPages): { path: string; name: string; text: string }[] {
  const text = {
    console: 'Find and change user groups and API tokens, and see what happened.',
    playground: 'Try the GraphQL API with examples and the documentation of every field.',
  };
  return [
    ...(console ? [{ path: paths.console, name: 'Console', text: text.console }] : []),
    ...(playground ? [{ path: paths.graphql, name: 'Playground', text: text.playground }] : []),
    { path: paths.apiReference, name: 'API reference', text: 'Every request and response, with examples in curl.' },
    { path: paths.errors, name: 'Error codes', text: 'What each code means and what to do about it.' },
    { path: paths.docsConfig, name: 'Diagnostics', text: 'What the configuration file validator reports, with examples.' },
  ];
}

/** A link target of a page: a path of the gateway, relative to its root, where the base URL of every page points. */
export function href(path: string): string {
  return path.slice(1) || './';
}

/** Renders a page without a script. */
export function renderPage(served: ServedPages, request: Pick<RequestHead, 'path'>, content: PageContent): HttpResponse {
  const { title, heading = title, main, status = 200 } = content;
  return { status, headers: headersOf(), body: fill('page', served, request.path, { title, heading, main }) };
}

/** Renders a page with a script. */
export function renderScriptedPage(
  served: ServedPages,
  request: Pick<RequestHead, 'path'>,
  name: 'console' | 'playground',
): HttpResponse {
  const nonce = randomBytes(16).toString('base64');
  return { status: 200, headers: headersOf(nonce), body: fill(name, served, request.path, { nonce }) };
}

/** Replaces the placeholders of a page that `web/build.js` wrote. */
function fill(name: string, served: ServedPages, path: string, own: Readonly<Record<string, Content>>): string {
  // Relative: a reverse proxy may serve the gateway below a path prefix that the gateway does not know.
  const root = '../'.repeat(path.slice(1).split('/').length - 1) || './';
  const nav = mainPages(served).map((page) => {
    const mark = `${path}/`.startsWith(`${page.path}/`) ? html` aria-current="${page.path === path ? 'page' : 'true'}"` : '';
    return html`<a href="${href(page.path)}"${mark}>${page.name}</a>\n`;
  });
  const values: Readonly<Record<string, Content>> = { root, nav, ...own };
  return readWebFile(`${name}.html`).replace(/\{\{(\w+)\}\}/g, (_, key) => render(values[key] ?? ''));
}

/**
 * The headers of a page: only files of the gateway itself, nothing inline, no embedding in other pages, and no forms. Only a page
 * with a script may run one, send requests and load fonts; its components create style elements, which have the nonce.
 */
function headersOf(nonce?: string): Record<string, string> {
  const scripted = ` 'nonce-${nonce}'; img-src 'self'; script-src 'self'; connect-src 'self'; font-src 'self'`;
  const sources = nonce === undefined ? "; img-src 'self'" : scripted;
  return {
    'content-type': inUtf8(mediaTypes.html),
    'content-security-policy': `default-src 'none'; style-src 'self'${sources}; base-uri 'self'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    vary: 'Accept, Authorization',
  };
}

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
