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

/** The handler of a page with a parameter, and the values that it accepts. */
export function parameterPage<Parameter extends string>(
  accepts: (value: string) => value is Parameter,
  content: (parameter: Parameter) => PageContent,
): Handler & Required<Pick<Route, 'accepts'>> {
  // The router calls the handler only with a value that is accepted.
  return { accepts, ...page(({ parameter }) => content(parameter as Parameter)) };
}

/** A JSON response. */
export function json(status: number, body: unknown, mediaType: string = mediaTypes.json): HttpResponse {
  return { status, headers: { 'content-type': mediaType }, body: JSON.stringify(body) };
}
