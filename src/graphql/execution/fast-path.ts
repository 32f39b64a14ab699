import type { ExecutionResult, GraphQLError } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import { inUtf8, mediaTypes } from '../../http/media-types.ts';
import type { HttpResponse, ResponseBody } from '../../http/types.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { assertResponseSize } from '../schema/response-meter.ts';
import type { DocumentCache } from './document-cache.ts';
import { type FailureHeaders, finishResult, publicError } from './error-masking.ts';
import type { ExecutionRequest, KnownOperation, OperationExecutor } from './execute.ts';
import { isLarge, type LargeBody, serializedTo, serializeInParts } from './serialize.ts';

/** A request that may be executed without the full pipeline. */
export interface FastPathRequest {
  readonly params: Readonly<Record<string, unknown>>;
  /** At least as many characters as the variables have as JSON. */
  readonly characters: number;
  /** The `Accept` header. */
  readonly accept: string | undefined;
  readonly context: GraphQLContext;
}

/**
 * Responds at once if the request's document is in the cache and nothing about the request is unusual. Nothing, if it has to go
 * through the full pipeline; then nothing of it was executed.
 */
export type FastPath = (request: FastPathRequest) => Promise<HttpResponse<ResponseBody>> | undefined;

/** A media type of responses. */
interface ResponseType {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
}

const responseType = (mediaType: string): ResponseType => ({ mediaType, headers: { 'content-type': inUtf8(mediaType) } });
const json = responseType(mediaTypes.json);
const graphql = responseType(mediaTypes.graphql);

/** What the full pipeline negotiates for the `Accept` headers of common clients. It negotiates all others itself. */
const responseTypes = new Map<string | undefined, ResponseType>([
  [undefined, json],
  ['*/*', json],
  [mediaTypes.json, json],
  [`${mediaTypes.json}, text/plain, */*`, json],
  [mediaTypes.graphql, graphql],
  [`${mediaTypes.graphql}, ${mediaTypes.json}`, graphql],
  [`${mediaTypes.graphql},${mediaTypes.json};q=0.9`, graphql],
]);

const parameterNames = new Set(['query', 'variables', 'operationName']);

/**
 * Builds the fast path. It leaves out what the full pipeline does alike for each request with the same document (parsing,
 * validation, negotiation, requests and responses as objects), and executes with the same executor.
 */
export function createFastPath(executor: OperationExecutor, documents: DocumentCache, failureHeaders: FailureHeaders): FastPath {
  async function respond(
    known: KnownOperation,
    type: ResponseType,
    request: ExecutionRequest,
  ): Promise<HttpResponse<ResponseBody>> {
    const result = await executor.run(known, request);
    if (result.errors) return renderErrors(result, type, request.context, failureHeaders);
    const body = isLarge(request.context) ? serializeInParts(result, request.context.meter.size) : JSON.stringify(result);
    assertResponseSize(body);
    return { status: 200, headers: type.headers, body };
  }

  return ({ params, characters, accept, context }) => {
    const { query } = params;
    const type = responseTypes.get(accept);
    const known = typeof query === 'string' ? documents.get(query) : undefined;
    if (!type || !known || !isPlain(params)) return undefined;
    if (params.operationName != null && params.operationName !== known.operation.name?.value) return undefined;
    return respond(known, type, { variables: params.variables, characters, context });
  };
}

/** Parameters of the types that they should have. */
interface PlainParams {
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
}

/** Whether the parameters are of the types that they should have; if not, the full pipeline says what is wrong. */
function isPlain(params: FastPathRequest['params']): params is PlainParams & FastPathRequest['params'] {
  for (const name in params) if (!parameterNames.has(name)) return false;
  const { variables, operationName } = params;
  return isObjectOrNothing(variables) && (operationName == null || typeof operationName === 'string');
}

const isObjectOrNothing = (value: unknown): boolean => value == null || (typeof value === 'object' && !Array.isArray(value));

/** Failures are rare: the full pipeline's own functions render them. */
async function renderErrors(
  result: ExecutionResult,
  { mediaType }: ResponseType,
  context: GraphQLContext,
  failureHeaders: FailureHeaders,
): Promise<HttpResponse<ResponseBody>> {
  const large: LargeBody = {};
  const errors = result.errors?.map((error) => publicError(error, 'Unexpected error.', failureHeaders) as GraphQLError);
  const finished = finishResult({ ...result, ...(errors && { errors }) }, context);
  const response = processRegularResult(serializedTo(large, finished, context), { Response } as never, mediaType);
  const body = large.bytes ?? (await response.text());
  assertResponseSize(body);
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}
