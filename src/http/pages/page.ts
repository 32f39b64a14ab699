import { mediaTypes } from '../media-types.ts';
import type { Handler, HttpRequest, HttpResponse, Route } from '../types.ts';
import { renderPageOrProblem } from './error-page.ts';
import { type PageContent, renderPage } from './layout.ts';

/** The handler of a read-only route; its errors are pages for browsers and problems for programs. */
export function resource(handle: Handler['handle']): Handler {
  return { handle, renderError: renderPageOrProblem };
}

/** The handler of a page. */
export function page(content: (request: HttpRequest) => PageContent): Handler & Pick<Route, 'produces'> {
  return { ...resource((request) => renderPage(request, content(request))), produces: [mediaTypes.html] };
}

/** A JSON response. */
export function json(status: number, body: unknown, mediaType: string = mediaTypes.json): HttpResponse {
  return { status, headers: { 'content-type': mediaType }, body: JSON.stringify(body) };
}
