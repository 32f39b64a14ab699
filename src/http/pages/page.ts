import { mediaTypes } from '../media-types.ts';
import type { Handler, HttpRequest, HttpResponse, Route } from '../types.ts';
import { pageOrProblem } from './error-page.ts';
import type { Layout, PageContent } from './layout.ts';

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
