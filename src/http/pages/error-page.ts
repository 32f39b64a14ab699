import { errorCatalog } from '../../error-catalog.ts';
import { prefersHtml } from '../media-types.ts';
import { errorCodePath } from '../paths.ts';
import { type Failure, headersOf, problem } from '../problem.ts';
import type { Handler, HttpResponse, RequestHead } from '../types.ts';
import { href, html, type Layout, withCode } from './layout.ts';

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

/**
 * Whether a person opened the URL in a browser. A browser sends no API token when it does; some HTTP clients, such as Java's, do,
 * and prefer HTML by default.
 */
export function isNavigation({ headers: { accept, authorization = '' } }: RequestHead): boolean {
  const sendsApiToken = authorization !== '' && !authorization.toLowerCase().startsWith('basic ');
  return !sendsApiToken && prefersHtml(accept);
}

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
