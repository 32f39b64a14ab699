import { inUtf8, mediaTypes } from '../media-types.ts';
import { paths } from '../paths.ts';
import type { HttpResponse, RequestHead } from '../types.ts';
import { assetPaths } from './assets.ts';

/** Text that is HTML already. Only {@link html} creates it, so that everything else is escaped. */
export interface Html {
  readonly source: string;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, as content and as a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/**
 * Builds HTML from a template literal. Text and numbers are escaped; HTML and lists of HTML are inserted as they are.
 *
 * @example html`<p>${message}</p>`
 */
export function html(literals: TemplateStringsArray, ...values: readonly (string | number | Html | readonly Html[])[]): Html {
  let source = literals[0] ?? '';
  values.forEach((value, index) => {
    source += render(value) + (literals[index + 1] ?? '');
  });
  return { source };
}

function render(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return 'source' in value ? value.source : value.map(({ source }) => source).join('');
}

/** Text with its parts between backticks as code. */
export function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** What a page with a script needs. */
export interface ScriptedPage {
  /** Permits the style elements with this nonce, for components that create their styles in the browser. */
  readonly styleNonce?: string | undefined;
}

/**
 * The Content-Security-Policy of a page: only files of the gateway itself, nothing inline, no embedding in other pages, and forms
 * are not sent. Only a page with a script may run one, send requests and load fonts.
 */
function contentSecurityPolicy(scripted?: ScriptedPage): string {
  const styles = scripted?.styleNonce === undefined ? "'self'" : `'self' 'nonce-${scripted.styleNonce}'`;
  const directives = [
    "default-src 'none'",
    `style-src ${styles}`,
    "img-src 'self'",
    ...(scripted ? ["script-src 'self'", "connect-src 'self'", "font-src 'self'"] : []),
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return directives.join('; ');
}

/**
 * The headers of a page: its Content-Security-Policy; no address of a page in requests to others; no access to its window for
 * pages of other origins that open it or that it opens; and no use of it as a part of their pages.
 */
export function pageHeaders(scripted?: ScriptedPage): Record<string, string> {
  return {
    'content-type': inUtf8(mediaTypes.html),
    'content-security-policy': contentSecurityPolicy(scripted),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

/** A page without its surroundings. */
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

/** What all pages have in common. */
export interface Layout {
  readonly served: ServedPages;
  /** Renders a page as the response to a request for it. */
  render(request: Pick<RequestHead, 'path'>, content: PageContent): HttpResponse;
  /** The header of a page: the name of the gateway, and the navigation. */
  header(path: string): Html;
}

/** In more segments than any route has, links begin at the root instead. */
const maxSegments = 32;

/** A link target of a page: a path of the gateway, relative to its root, where the base URL of every page points. */
export function href(path: string): string {
  return path.slice(1) || './';
}

/**
 * The root of the gateway, relative to a path of it. A reverse proxy may serve the gateway below a path prefix that the gateway
 * does not know, so pages have no absolute links.
 */
export function rootOf(path: string): string {
  const segments = path.split('/', maxSegments + 2).length - 1;
  return segments > maxSegments ? '/' : '../'.repeat(Math.max(0, segments - 1)) || './';
}

/** The links to the icon and the stylesheet, for the head of a page. */
export const headLinks: Html = html`<link rel="icon" href="${href(assetPaths.icon)}" type="${mediaTypes.svg}">
<link rel="stylesheet" href="${href(assetPaths.stylesheet)}">`;

/** Creates the layout of the pages of a gateway that serves these. */
export function createLayout(served: ServedPages): Layout {
  const links: readonly (readonly [path: string, text: string])[] = [
    ...(served.console ? [[paths.console, 'Console'] as const] : []),
    ...(served.playground ? [[paths.graphql, 'Playground'] as const] : []),
    [paths.apiReference, 'API reference'],
    [paths.errors, 'Error codes'],
    [paths.docsConfig, 'Diagnostics'],
  ];

  const header = (path: string): Html => html`<header class="site">
<a class="home" href="${href(paths.contents)}"><img src="${href(assetPaths.icon)}" width="24" height="24" alt="">User group gateway</a>
<nav aria-label="Pages">
${links.map(([target, text]) => html`<a href="${href(target)}"${currentMark(target, path)}>${text}</a>\n`)}</nav>
</header>`;

  return {
    served,
    header,
    render({ path }, { title, heading, main, status = 200 }) {
      const { source } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · User group gateway</title>
<base href="${rootOf(path)}">
${headLinks}
</head>
<body>
${header(path)}
<main>
<h1>${heading ?? title}</h1>
${main}
</main>
</body>
</html>
`;
      return { status, headers: pageHeaders(), body: source };
    },
  };
}

/** Marks the link to the page itself, or to the list that it belongs to. */
function currentMark(target: string, path: string): Html {
  if (target === path) return html` aria-current="page"`;
  return path.startsWith(`${target}/`) ? html` aria-current="true"` : html``;
}
