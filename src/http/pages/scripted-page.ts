import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { Handler, HttpRequest, HttpResponse } from '../types.ts';
import { isNavigation } from './error-page.ts';
import { escapeHtml, headLinks, type Layout, pageHeaders, rootOf } from './layout.ts';

/**
 * Renders a page that has a script from the HTML that the build wrote. Its placeholders, which may stand in comments, are
 * replaced: `{{root}}` by the path to the root of the gateway, `{{nonce}}` by the nonce of styles, `{{links}}` by the links to
 * the icon and the stylesheet of all pages, and `{{header}}` by their header.
 */
export function renderScriptedPage(template: string, { path }: Pick<HttpRequest, 'path'>, layout: Layout): HttpResponse {
  const nonce = template.includes('{{nonce}}') ? randomBytes(16).toString('base64') : undefined;
  const replacements: Readonly<Record<string, string>> = {
    root: escapeHtml(rootOf(path)),
    nonce: nonce ?? '',
    links: headLinks.source,
    header: layout.header(path).source,
  };
  const body = template.replace(
    /(?:<!-- ?)?\{\{([a-z]+)\}\}(?: ?-->)?/g,
    (placeholder, name) => replacements[name] ?? placeholder,
  );
  return { status: 200, headers: pageHeaders({ styleNonce: nonce }), body };
}

/**
 * A handler that serves the playground to a person who opens the URL in a browser, and leaves all other requests to another
 * handler.
 *
 * @param page renders the playground; without it, the URL without a query is not found in a browser.
 */
export function withPlayground({ handle, renderError }: Handler, page?: (request: HttpRequest) => HttpResponse): Handler {
  return {
    handle(request) {
      if (request.method !== 'GET' || !isNavigation(request)) return handle(request);
      if (!page) {
        if (request.query === '') throw new GatewayError('NOT_FOUND', noPlayground);
        return handle(request);
      }
      const response = page(request);
      return { ...response, headers: { ...response.headers, vary: 'Accept, Authorization' } };
    },
    renderError,
  };
}

const noPlayground = 'This gateway serves no playground. Programs send GraphQL requests to this path.';
