import { readFileSync } from 'node:fs';
import { Ajv2020 as OpenApiValidator, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { dereference } from '../../src/http/pages/api-reference.ts';
import { type JsonSchema, type OpenApiDocument, operationsOf } from './openapi-document.ts';

/** The text of `openapi.yaml`. */
export const openApiText = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8');

/** `openapi.yaml` as it is, with references. */
export const openApiSource: object = parse(openApiText);

/** `openapi.yaml` with what each reference refers to in its place. */
export const openApiDocument = dereference(openApiSource) as OpenApiDocument;

const validator = new OpenApiValidator({ strict: false, allErrors: true });
formats.default(validator);
const closed = new Map<JsonSchema, JsonSchema>();

/** A validator of a schema of the document. */
export const validatorOf = (schema: JsonSchema): ValidateFunction => validator.compile(schema);

/** The same schema, which permits no member that it does not describe. */
function close(schema: JsonSchema): JsonSchema {
  const known = closed.get(schema) ?? { ...schema, unevaluatedProperties: false };
  closed.set(schema, known);
  return known;
}

/** A response, as far as the document describes it. */
export interface ActualResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

/**
 * Fails unless the document describes a response of one of its paths: its status for the method, its media type, its headers and
 * every member of its body; and the body of a REST request that succeeded. Other paths, the HTML pages that browsers get, and
 * preflight requests are not checked.
 *
 * @param request the body of the request; checked if it is an object.
 * @throws Error that names the method, the path, the status and what is not described.
 */
export function assertDocumented(method: string, path: string, response: ActualResponse, request?: unknown): void {
  const { status, headers, json } = response;
  const [pathname = ''] = path.split('?');
  const item = openApiDocument.paths[pathname === '/' ? pathname : pathname.replace(/\/$/, '')];
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  const isPage = mediaType === 'text/html' && (status >= 400 || pathname === '/graphql');
  if (!item || isPage || method === 'OPTIONS') return;
  const violation = (what: string): Error =>
    new Error(`openapi.yaml does not describe this response to ${method} ${path} with status ${status}: ${what}`);
  const check = (schema: JsonSchema, value: unknown) => {
    const validate = validatorOf(schema);
    const describe = () =>
      validate.errors?.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
    if (!validate(value)) throw violation(`${describe()?.join('; ')}`);
  };

  const isRead = method === 'QUERY' || (method === 'HEAD' && status !== 405);
  const operation = Object.fromEntries(operationsOf(item))[isRead ? 'GET' : method];
  const documented = operation
    ? (operation.responses[status] ?? operation.responses[`${Math.trunc(status / 100)}XX`])
    : item['x-other-methods'];
  if (!operation && !documented && status === 405) return;
  if (!documented) throw violation('the status is not listed.');
  const missing = Object.entries(documented.headers ?? {}).filter(([name, { required }]) => required && !headers.has(name));
  if (missing.length > 0) throw violation(`it has no header ${missing.map(([name]) => name).join(', ')}.`);
  if (!documented.content) return;
  const content = documented.content[mediaType];
  if (!content) throw violation(`the media type is ${mediaType}.`);
  if (method !== 'HEAD' && mediaType.endsWith('json')) check(close(content.schema), json);

  const sent = pathname === '/graphql' ? undefined : operation?.requestBody?.content['application/json'];
  const isObject = typeof request === 'object' && request !== null && !Buffer.isBuffer(request);
  if (sent && status === 200 && isObject) check(sent.schema, request);
}
