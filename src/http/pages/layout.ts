import { inUtf8, mediaTypes } from '../media-types.ts';
import { paths } from '../paths.ts';
import type { HttpRequest, HttpResponse } from '../types.ts';
import { assetPaths } from './assets.ts';
import { type Html, html } from './html.ts';

/** A page without its surroundings. */
export interface PageContent {
  readonly title: string;
  /** The title by default. */
  readonly heading?: Html;
  readonly main: Html;
  /** 200 by default. */
  readonly status?: number;
}

/** Nothing but files of the gateway itself, no script, no form, no embedding in other pages. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** In more segments than any route has, links begin at the root instead. */
const maxSegments = 32;

/** A link target of a page: a path of the gateway, relative to its root, where the base URL of every page points. */
export function href(path: string): string {
  return path.slice(1) || './';
}

/**
 * The root of the gateway, relative to a path of it. A reverse proxy may serve the gateway below a path prefix that the gateway does
 * not know, so pages have no absolute links.
 */
function rootOf(path: string): string {
  const segments = path.split('/', maxSegments + 2).length - 1;
  return segments > maxSegments ? '/' : '../'.repeat(Math.max(0, segments - 1)) || './';
}

/** Renders a page as the response to a request for it. */
export function renderPage(
  { path }: Pick<HttpRequest, 'path'>,
  { title, heading, main, status = 200 }: PageContent,
): HttpResponse {
  const { source } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · User group gateway</title>
<base href="${rootOf(path)}">
<link rel="icon" href="${href(assetPaths.icon)}" type="${mediaTypes.svg}">
<link rel="stylesheet" href="${href(assetPaths.stylesheet)}">
</head>
<body>
<header>
<a class="home" href="${href(paths.contents)}"><img src="${href(assetPaths.icon)}" width="24" height="24" alt="">User group gateway</a>
<nav aria-label="Pages">
<a href="${href(paths.graphql)}">GraphQL</a>
<a href="${href(paths.apiReference)}">REST</a>
<a href="${href(paths.errors)}">Error codes</a>
<a href="${href(paths.docsConfig)}">Diagnostics</a>
</nav>
</header>
<main>
<h1>${heading ?? title}</h1>
${main}
</main>
</body>
</html>
`;
  const headers = { 'content-type': inUtf8(mediaTypes.html), 'content-security-policy': contentSecurityPolicy };
  return { status, headers, body: source };
}
