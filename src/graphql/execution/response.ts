import { type ExecutionResult, GraphQLError } from 'graphql';
import { type ErrorCode, errorCatalog } from '../../error-catalog.ts';
import { type GatewayError, InvalidInput, nothingChanged, shorten } from '../../errors.ts';
import { asGatewayError } from '../../failures.ts';
import { inUtf8, mediaTypes, readAcceptItem } from '../../http/media-types.ts';
import { headersOf } from '../../http/problem.ts';
import type { HttpResponse } from '../../http/types.ts';
import { redactTokens } from '../../tokens.ts';
import type { GraphQLContext } from '../context.ts';
import { assertResponseSize } from '../field-plugin.ts';
import { graphqlLimits } from '../limits.ts';

const { maxMessageLength } = graphqlLimits;

/** An error with a code of the error catalog, also for errors of graphql-js and Yoga (syntax, validation, parameters). */
function withCatalogCode(error: GraphQLError): GraphQLError {
  const { code, http } = error.extensions as { code?: string; http?: { status?: number } };
  if (code !== undefined && Object.hasOwn(errorCatalog, code)) return error;
  const known = http?.status === 405 ? 'METHOD_NOT_ALLOWED' : 'INVALID_INPUT';
  return withExtensions(error, error.message, { ...error.extensions, code: known });
}

/**
 * The error that a caller gets: an expected one with its code and message, any other one masked. Errors of GraphQL itself
 * (syntax, validation) are unchanged.
 */
export function publicError(error: unknown): GraphQLError {
  const cause = error instanceof GraphQLError ? causeOf(error) : error;
  if (cause instanceof GraphQLError) return error as GraphQLError;
  const failure = asGatewayError(cause);
  const { code, message } = failure;
  const { status } = errorCatalog[code];
  const shown = withExtensions(error instanceof GraphQLError ? error : {}, message, {
    code,
    ...(failure instanceof InvalidInput && { issues: failure.issues }),
    ...((status >= 500 || status === 429) && { http: { status, headers: headersOf(failure) } }),
  });
  if (status >= 500) faults.set(shown, failure);
  return shown;
}

/** The error that a resolver threw, out of the GraphQL errors around it; the error itself when it is GraphQL's own. */
export function causeOf(error: GraphQLError): Error {
  const { originalError } = error;
  return originalError ? causeOf(originalError as GraphQLError) : error;
}

/** The causes of masked errors. */
const faults = new WeakMap<Error, GatewayError>();

/**
 * Gives the public errors of a response their codes, counts them, and logs the faults behind them, the gateway's own or the
 * database's: one that several fields met, such as a database that cannot be reached, once.
 */
function finishErrors(errors: readonly GraphQLError[], { report, countError }: GraphQLContext): GraphQLError[] {
  const byText = new Map<string, GatewayError>();
  for (const fault of errors.map((error) => faults.get(error))) if (fault) byText.set(`${fault.message} ${fault.cause}`, fault);
  for (const fault of byText.values()) report(fault);
  return errors.map((error) => {
    const finished = withCatalogCode(shortened(error));
    countError(finished.extensions['code'] as ErrorCode);
    return finished;
  });
}

/** Messages of GraphQL itself repeat what was sent, however long, and tokens as well. */
function shortened(error: GraphQLError): GraphQLError {
  const { message, extensions } = error;
  const shown = shorten(redactTokens(message), maxMessageLength);
  return shown === message ? error : withExtensions(error, shown, extensions);
}

/** The same error, with the same locations and path, with another message and extensions. */
function withExtensions(
  { nodes, source, positions, path }: Partial<GraphQLError>,
  message: string,
  extensions: object,
): GraphQLError {
  const place = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  return new GraphQLError(message, { ...place, extensions: { ...extensions } });
}

/** A media type of responses. */
export type ResponseType = typeof mediaTypes.json | typeof mediaTypes.graphql;

const contentTypes: Readonly<Record<ResponseType, string>> = {
  [mediaTypes.json]: inUtf8(mediaTypes.json),
  [mediaTypes.graphql]: inUtf8(mediaTypes.graphql),
};

/** The media type that an `Accept` header prefers; JSON for wildcards. Nothing if it accepts neither. Linear in its length. */
export function chooseResponseType(accept: string | undefined): ResponseType | undefined {
  if (!accept || accept === mediaTypes.json) return mediaTypes.json;
  const accepted = accept
    .split(',')
    .map(readAcceptItem)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { name } of accepted) {
    if (name === mediaTypes.graphql) return mediaTypes.graphql;
    if (name === mediaTypes.json || name === 'application/*' || name === '*/*') return mediaTypes.json;
  }
  return undefined;
}

/** Whether the result of a root field is what a mutation returned: not `null`, nor the name that `__typename` gives. */
const isPayload = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Whether at least one mutation of an operation returned something. */
export const hasPayload = (data: ExecutionResult['data']): boolean => Object.values(data ?? {}).some(isPayload);

/**
 * Renders the result of a request, and logs and counts its errors.
 *
 * @throws GatewayError `QUERY_TOO_COSTLY` when the response exceeds a limit.
 */
export function renderResult(result: ExecutionResult, type: ResponseType, context: GraphQLContext): HttpResponse {
  const headers = { 'content-type': contentTypes[type] };
  if (!result.errors) return { status: 200, headers, body: serialize(result) };
  const errors = finishErrors(result.errors.map(publicError), context);
  const isExecuted = result.data !== undefined;
  // A client that sends a failed request again, as the status of a failure has it do, would make another change.
  const { isInTransaction, operationInfo } = context;
  // An error within the result of a mutation, of which nothing is left; in a transaction it is undone.
  const isLost = ({ path = [] }: GraphQLError): boolean =>
    !isInTransaction && path.length > 1 && !isPayload(result.data?.[path[0] as string]);
  const isChanged = operationInfo.isMutation === true && (hasPayload(result.data) || errors.some(isLost));
  const isInvalidDocument = !isExecuted && errors.some(({ locations }) => locations);
  let status = isExecuted || type === mediaTypes.json ? 200 : 400;
  for (const { http } of isChanged ? [] : errors.map(({ extensions }) => extensions)) {
    Object.assign(headers, http?.headers);
    // The GraphQL-over-HTTP specification wants 200 for an invalid document if the client asked for JSON.
    if (!isInvalidDocument || type !== mediaTypes.json) status = Math.max(status, http?.status ?? 0);
  }
  return {
    status,
    headers,
    body: serialize({
      ...result,
      errors: errors.map((error) => shownError(error, isChanged, isChanged && isLost(error))) as never,
    }),
  };
}

/** What the message of a failure says instead of {@link nothingChanged} if other parts of a mutation may have been made. */
const othersExecuted = 'This part was not executed, others may have been: send it alone. ';

/** What the message of an error also says that is in the place of the result of a mutation. */
const lostResult = 'The change may have been made, and only its result is missing: look before you send it again.';

/**
 * An error as the caller gets it: without what it says about the response.
 *
 * @param isChanged whether a change was made.
 * @param isLost whether it stands where the result of a change would be that may have been made.
 */
function shownError({ message, locations, path, extensions }: GraphQLError, isChanged: boolean, isLost: boolean): object {
  const { http: _, ...shown } = extensions;
  const ofPart = isChanged ? message.replace(nothingChanged, path?.length === 1 ? othersExecuted : '') : message;
  return {
    message: isLost ? `${ofPart.split(' Try again')[0]} ${lostResult}` : ofPart,
    locations,
    path,
    extensions: shown,
  };
}

function serialize(result: ExecutionResult): string {
  const body = JSON.stringify(result);
  assertResponseSize(body);
  return body;
}
