import { type ExecutionResult, GraphQLError } from 'graphql';
import { type ErrorCode, errorCatalog } from '../error-catalog.ts';
import { type GatewayError, InvalidInput, nothingChanged, shorten } from '../errors.ts';
import { asGatewayError } from '../failures.ts';
import { inUtf8, mediaTypes, readAcceptItem } from '../http/media-types.ts';
import { type Failure, headersOf } from '../http/problem.ts';
import type { HttpRequest, HttpResponse } from '../http/types.ts';
import { redactTokens } from '../tokens.ts';
import { graphqlLimits } from './limits.ts';

/** A media type of responses. */
export type ResponseType = typeof mediaTypes.json | typeof mediaTypes.graphql;

const contentTypes: Readonly<Record<ResponseType, string>> = {
  [mediaTypes.json]: inUtf8(mediaTypes.json),
  [mediaTypes.graphql]: inUtf8(mediaTypes.graphql),
};

/** The media type that an `Accept` header prefers of the two; JSON if it names neither. */
export function chooseResponseType(accept: string = mediaTypes.json): ResponseType {
  if (accept === mediaTypes.json) return accept;
  const [first] = accept
    .split(',')
    .map(readAcceptItem)
    .filter(({ name, quality }) => quality > 0 && (name in contentTypes || name === '*/*'))
    .sort((a, b) => b.quality - a.quality);
  return first?.name === mediaTypes.graphql ? mediaTypes.graphql : mediaTypes.json;
}

/** An error of a response, and the failure behind it; none for an error of GraphQL itself, such as a syntax error. */
interface ShownError {
  readonly error: GraphQLError;
  readonly failure: GatewayError | undefined;
  readonly code: ErrorCode;
}

function show(error: GraphQLError): ShownError {
  const cause = causeOf(error);
  const failure = cause instanceof GraphQLError ? undefined : asGatewayError(cause);
  const isMethod =
    (error.extensions?.['http'] as { status?: number } | undefined)?.status === errorCatalog.METHOD_NOT_ALLOWED.status;
  return { error, failure, code: failure?.code ?? (isMethod ? 'METHOD_NOT_ALLOWED' : 'INVALID_INPUT') };
}

/** The error that a resolver threw, out of the GraphQL errors around it; the error itself when it is GraphQL's own. */
function causeOf(error: Error): Error {
  const { originalError } = error as Partial<GraphQLError>;
  return originalError ? causeOf(originalError) : error;
}

const isPayload = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Whether at least one mutation of an operation returned something. */
export const hasPayload = (data: ExecutionResult['data']): boolean => Object.values(data ?? {}).some(isPayload);

/** The first failure of a result after which the same request may succeed. */
export const temporaryFailure = ({ errors = [] }: ExecutionResult): GatewayError | undefined =>
  errors.map((error) => show(error).failure).find((failure) => failure && isTemporary(failure));

const isTemporary = ({ code }: GatewayError): boolean => errorCatalog[code].status >= 500 || code === 'RATE_LIMITED';

/** The result of a request as it is sent. Errors are masked, counted, and logged if they are the gateway's own. */
export function renderResult(
  result: ExecutionResult,
  type: ResponseType,
  request: HttpRequest,
  isMutation = false,
): HttpResponse {
  const { data, extensions } = result;
  if (!result.errors) return { status: 200, headers: { 'content-type': contentTypes[type] }, body: JSON.stringify(result) };
  const errors = result.errors.map(show);
  const isExecuted = data !== undefined;
  // A client that sends a failed request again, as the status of a failure has it do, would make another change.
  const isLost = ({ path = [] }: GraphQLError) => path.length > 1;
  const isChanged = isMutation && isExecuted && (hasPayload(data) || result.errors.some(isLost));
  let status = isExecuted || type === mediaTypes.json ? 200 : 400;
  const headers: Record<string, string> = { 'content-type': contentTypes[type] };
  const reported = new Set<string>();
  for (const { error, failure, code } of errors) {
    request.countError(code);
    if (failure && errorCatalog[code].status >= 500 && !reported.has(failure.message)) request.report(failure);
    if (failure) reported.add(failure.message);
    if (isExecuted && (isChanged || !failure || !isTemporary(failure))) continue;
    if (failure || code === 'METHOD_NOT_ALLOWED') status = Math.max(status, errorCatalog[code].status);
    const { http } = Object(error.extensions) as { http?: { headers?: object } }; // graphql-jit gives none
    Object.assign(headers, failure ? headersOf(failure) : http?.headers);
  }
  const shown = errors.map((error) => shownError(error, isChanged));
  return { status, headers, body: JSON.stringify({ errors: shown, data, extensions }) };
}

/** An error as the caller gets it. Messages of GraphQL itself repeat what was sent, however long, and tokens as well. */
function shownError({ error, failure, code }: ShownError, isChanged: boolean): object {
  const { locations, path } = error;
  const message = failure?.message ?? shorten(redactTokens(error.message), graphqlLimits.maxMessageLength);
  const { http: _, ...given } = error.extensions ?? {};
  const extensions = { ...given, code, ...(failure instanceof InvalidInput && { issues: failure.issues }) };
  return { message: isChanged ? message.replace(nothingChanged, '') : message, locations, path, extensions };
}

/** A failure of the whole request, in the form of a GraphQL response. */
export function renderGraphQLError(error: Failure, type: ResponseType = mediaTypes.json): HttpResponse {
  const extensions = { code: error.code, ...(error instanceof InvalidInput && { issues: error.issues }) };
  return {
    status: errorCatalog[error.code].status,
    headers: { 'content-type': contentTypes[type], ...headersOf(error) },
    body: JSON.stringify({ errors: [{ message: error.message, extensions }] }),
  };
}
