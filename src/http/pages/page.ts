import { randomBytes } from 'node:crypto';
import { errorCatalog } from '../../error-catalog.ts';
import { GatewayError } from '../../errors.ts';
import { isNavigation, mediaTypes } from '../media-types.ts';
import { errorCodePath } from '../paths.ts';
import { type Failure, headersOf, problem } from '../problem.ts';
import type { Handler, HttpRequest, HttpResponse, RequestHead, Route } from '../types.ts';
import { escapeHtml, headLinks, href, html, type Layout, type PageContent, pageHeaders, rootOf, withCode } from './layout.ts';

/** Creates the handlers of read-only routes. */
export interface PageHandlers {
  /** Its errors are pages for browsers and problems for programs. */
  resource(handle: Handler['handle']): Handler;
  /** A page. */
  page(content: (request: HttpRequest) => PageContent): Handler;
  /** A page with a parameter, and the values that it accepts. */
  parameterPage<Parameter extends string>(
    accepts: (value: string) => value is Parameter,
    content: (parameter: Parameter) => PageContent,
  ): Handler & Required<Pick<Route, 'accepts'>>;
}

/** The handlers of pages with a layout. */
export function createPageHandlers(layout: Layout): PageHandlers {
  const renderError = pageOrProblem(layout);
  const page: PageHandlers['page'] = (content) => ({
    handle: (request) => layout.render(request, content(request)),
    renderError,
  });
  return {
    resource: (handle) => ({ handle, renderError }),
    page,
    parameterPage: <Parameter extends string>(
      accepts: (value: string) => value is Parameter,
      content: (parameter: Parameter) => PageContent,
    ) => ({
      accepts,
      // The router calls the handler only with a value that is accepted.
      ...page(({ parameter }) => content(parameter as Parameter)),
    }),
  };
}

/** A JSON response. */
export function json(status: number, body: unknown, mediaType: string = mediaTypes.json): HttpResponse {
  return { status, headers: { 'content-type': mediaType }, body: JSON.stringify(body) };
}

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
 * What a person gets who opens the URL of the GraphQL endpoint in a browser.
 *
 * @param handle handles the requests of programs.
 * @param page renders the playground; without it, the URL without a query is not found.
 */
export function browseGraphql(handle: Handler['handle'], page?: (request: HttpRequest) => HttpResponse): Handler['handle'] {
  return (request) => {
    if (!page) {
      if (request.query === '') throw new GatewayError('NOT_FOUND', noPlayground);
      return handle(request);
    }
    const response = page(request);
    return { ...response, headers: { ...response.headers, vary: 'Accept, Authorization' } };
  };
}

const noPlayground = 'This gateway serves no playground. Programs send GraphQL requests to this path.';

type RenderError = Handler['renderError'];

/** A handler whose errors are pages for browsers, and unchanged for programs. */
export function withErrorPages(layout: Layout, { handle, renderError }: Handler): Handler {
  return { handle, renderError: pageOr(layout, renderError) };
}

/** Renders an error as a page for browsers, and with another function for programs. */
function pageOr(layout: Layout, renderError: RenderError): RenderError {
  return (error, request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return renderError(error, request);
    const response = isNavigation(request) ? renderErrorPage(layout, error, request) : renderError(error, request);
    return { ...response, headers: { ...response.headers, vary: 'Accept, Authorization' } };
  };
}

/** Renders errors as pages for browsers and as problems for programs. */
export const pageOrProblem = (layout: Layout): RenderError => pageOr(layout, problem);

function renderErrorPage(layout: Layout, failure: Failure, request: RequestHead): HttpResponse {
  const { code, message } = failure;
  const { status, title, remedy } = errorCatalog[code];
  const main = html`<p>${message}</p>
<p>${withCode(remedy)}</p>
<dl class="facts">
<dt>Error code</dt><dd><a href="${href(errorCodePath(code))}"><code>${code}</code></a> <span class="badge">${status}</span></dd>
<dt>Request id</dt><dd><code>${request.id}</code></dd>
</dl>`;
  const response = layout.render(request, { title, main, status });
  return { ...response, headers: { ...response.headers, ...headersOf(failure) } };
}
