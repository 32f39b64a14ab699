import { type ErrorCode, errorCatalog } from '../../error-catalog.ts';
import { isNavigation } from '../media-types.ts';
import { errorCodePath, paths } from '../paths.ts';
import { type Failure, headersOf, problem } from '../problem.ts';
import type { Handler, HttpResponse, RequestHead } from '../types.ts';
import { type Html, href, html, type PageContent, renderPage, type ServedPages, withCode } from './layout.ts';

/** Whether there is an error code with this name. */
export function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(errorCatalog, name);
}

/** The page that lists every error code. */
export function errorCodesPage(): PageContent {
  const entries = Object.entries(errorCatalog).map(
    ([code, { status, title, remedy }]) => html`
<div><dt>${linkToCode(code as ErrorCode)} <span class="badge">${status}</span></dt><dd>${title}. ${withCode(remedy)}</dd></div>`,
  );
  const main = html`<p>The codes of errors, over REST and GraphQL: what they mean and what to do.</p>
<dl class="list">${entries}</dl>`;
  return { title: 'Error codes', main };
}

/** The page about one error code. */
export function errorCodePage(code: ErrorCode): PageContent {
  const { status, title, remedy } = errorCatalog[code];
  const main = html`<p><strong>${title}.</strong> <span class="badge">${status}</span></p>
<p>${withCode(remedy)}</p>
<p><a href="${href(paths.errors)}">All error codes</a></p>`;
  return { title: code, heading: html`<code>${code}</code>`, main };
}

/** A link to the page about an error code. */
export const linkToCode = (code: ErrorCode): Html => html`<a href="${href(errorCodePath(code))}"><code>${code}</code></a>`;

/** Renders errors as pages for browsers and, for programs, as problems or in the format of the route. */
export function errorPages(served: ServedPages, forPrograms: Handler['renderError'] = problem): Handler['renderError'] {
  return (error, request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return forPrograms(error, request);
    const response = isNavigation(request) ? renderErrorPage(served, error, request) : forPrograms(error, request);
    return { ...response, headers: { ...response.headers, vary: 'Accept, Authorization' } };
  };
}

function renderErrorPage(served: ServedPages, failure: Failure, request: RequestHead): HttpResponse {
  const { code, message } = failure;
  const { status, title, remedy } = errorCatalog[code];
  const main = html`<p>${message}</p>
<p>${withCode(remedy)}</p>
<p>Error code: ${linkToCode(code)} <span class="badge">${status}</span></p>
<p>Request id: <code>${request.id}</code></p>`;
  const response = renderPage(served, request, { title, main, status });
  return { ...response, headers: { ...response.headers, ...headersOf(failure) } };
}
