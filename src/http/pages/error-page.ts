import { errorCatalog } from '../../domain/errors.ts';
import { prefersHtml } from '../media-types.ts';
import { errorCodePath } from '../paths.ts';
import { type Failure, headersOf, problem } from '../problem.ts';
import type { Handler, HttpResponse, RequestHead } from '../types.ts';
import { html, withCode } from './html.ts';
import { href, renderPage } from './layout.ts';

type RenderError = Handler['renderError'];

/** A handler whose errors are pages for browsers, and unchanged for programs. */
export function withErrorPages({ handle, renderError }: Handler): Handler {
  return { handle, renderError: pageOr(renderError) };
}

/** Renders an error as a page for browsers, and with another function for programs. */
function pageOr(renderError: RenderError): RenderError {
  return (error, request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return renderError(error, request);
    const response = isNavigation(request) ? renderErrorPage(error, request) : renderError(error, request);
    return { ...response, headers: { ...response.headers, vary: 'Accept, Authorization' } };
  };
}

/** Renders an error as a page for browsers and as a problem for programs. */
export const renderPageOrProblem: RenderError = pageOr(problem);

/**
 * Whether a person opened the URL in a browser. A browser sends no API token when it does; some HTTP clients, such as Java's, do, and
 * prefer HTML by default.
 */
function isNavigation({ headers: { accept, authorization = '' } }: RequestHead): boolean {
  const sendsApiToken = authorization !== '' && !authorization.toLowerCase().startsWith('basic ');
  return !sendsApiToken && prefersHtml(accept);
}

function renderErrorPage(failure: Failure, request: RequestHead): HttpResponse {
  const { code, message } = failure;
  const { status, title, remedy } = errorCatalog[code];
  const main = html`<p>${message}</p>
<p>${withCode(remedy)}</p>
<dl class="facts">
<dt>Error code</dt><dd><a href="${href(errorCodePath(code))}"><code>${code}</code></a> <span class="badge">${status}</span></dd>
<dt>Request id</dt><dd><code>${request.id}</code></dd>
</dl>`;
  const response = renderPage(request, { title, main, status });
  return { ...response, headers: { ...response.headers, ...headersOf(failure) } };
}
