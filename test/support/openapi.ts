import { type ErrorObject, Ajv2020 as OpenApiValidator, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApiDocument, ResponseObject } from '../../src/http/openapi/types.ts';
import { problem } from '../../src/http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../../src/http/types.ts';
import { createRoutes } from '../../src/routes.ts';

const handler: Handler = { handle: () => ({ status: 200, headers: {}, body: '' }), renderError: problem };

/** The route table of the gateway, with handlers that do nothing. */
export const routes = createRoutes({
  ...{ graphql: handler, user: handler, jwks: handler, introspection: handler, metrics: handler },
  unreadiness: async () => undefined,
});

/** The OpenAPI document that the route table serves. */
export const openApiDocument: OpenApiDocument = (() => {
  const response = routes
    .find(({ path }) => path === '/openapi.json')
    ?.handle({ path: '/openapi.json', headers: {} } as HttpRequest) as HttpResponse;
  return JSON.parse(response.body) as OpenApiDocument;
})();

const validator = new OpenApiValidator({ strict: false, allErrors: true });
formats.default(validator);
validator.addSchema(openApiDocument, 'openapi');
const compiled = new Map<string, ValidateFunction>();

/** A validator of the schema at a JSON pointer into the document, given by its segments. */
export function validatorAt(...segments: readonly string[]): ValidateFunction {
  const pointer = segments.map((segment) => segment.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const validate = compiled.get(pointer) ?? validator.compile({ $ref: `openapi#/${pointer}` });
  compiled.set(pointer, validate);
  return validate;
}

/** A response, as far as the document describes it. */
export interface ActualResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

const userPath = '/api/user';
const item = openApiDocument.paths[userPath];

/**
 * Fails unless the document describes a response of `/api/user`: its status for the method, its media type, its headers and every
 * member of its body. Other paths, and the HTML pages that browsers get, are not checked.
 *
 * @throws Error that names the method, the status and what is not described.
 */
export function assertDocumented(method: string, path: string, { status, headers, json }: ActualResponse): void {
  const [pathname = ''] = path.split('?');
  if (pathname !== userPath && pathname !== `${userPath}/`) return;
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  if (mediaType === 'text/html' && status >= 400) return;
  const violation = (what: string): Error =>
    new Error(`The OpenAPI document does not describe this response to ${method} ${path} with status ${status}: ${what}`);

  const name = method === 'QUERY' ? 'get' : method.toLowerCase();
  const operation = name === 'get' || name === 'put' || name === 'post' ? item?.[name] : undefined;
  const place = operation ? [name, 'responses', String(status)] : ['x-other-methods'];
  const response: ResponseObject | undefined = operation ? operation.responses[status] : item?.['x-other-methods'];
  if (!response) throw violation('the status is not listed.');
  if (!response.content?.[mediaType]) throw violation(`the media type is ${mediaType}.`);
  const missing = Object.entries(response.headers ?? {}).filter(([header, { required }]) => required && !headers.has(header));
  if (missing.length > 0) throw violation(`it has no header ${missing.map(([header]) => header).join(', ')}.`);
  if (method === 'HEAD') return; // has no body
  const validate = validatorAt('paths', userPath, ...place, 'content', mediaType, 'schema');
  if (!validate(json)) throw violation(describeErrors(validate.errors));
}

const describeErrors = (errors: readonly ErrorObject[] | null | undefined): string =>
  (errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`).join('; ');
