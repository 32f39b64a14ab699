import type { ExecutionResult, GraphQLError } from 'graphql';
import { nothingChanged } from '../../domain/errors.ts';
import { inUtf8, mediaTypes, readAcceptItem } from '../../http/media-types.ts';
import type { HttpResponse } from '../../http/types.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { assertResponseSize } from '../schema/response-meter.ts';
import { type FailureHeaders, finishError, publicError } from './error-masking.ts';

/** A media type of responses. */
export type ResponseType = typeof mediaTypes.json | typeof mediaTypes.graphql;

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

/**
 * Renders the result of a request, and logs and counts its errors.
 *
 * @throws GatewayError `QUERY_TOO_COSTLY` when the response exceeds a limit.
 */
export function renderResult(
  result: ExecutionResult,
  type: ResponseType,
  context: GraphQLContext,
  failureHeaders: FailureHeaders,
): HttpResponse {
  const headers = { 'content-type': inUtf8(type) };
  if (!result.errors) return { status: 200, headers, body: serialize(result) };
  const errors = result.errors.map((error) => finishError(publicError(error, failureHeaders), context));
  const isExecuted = result.data !== undefined;
  // A client that sends a failed request again, as the status of a failure has it do, would make another change.
  const isAfterChange = ({ path = [] }: GraphQLError): boolean =>
    context.noted.isMutation === true && path.length > 1 && result.data?.[path[0] as string] != null;
  const isInvalidDocument = !isExecuted && errors.some(({ locations }) => locations);
  let status = isExecuted || type === mediaTypes.json ? 200 : 400;
  for (const { http } of errors.filter((error) => !isAfterChange(error)).map(({ extensions }) => extensions)) {
    Object.assign(headers, http?.headers);
    // The GraphQL-over-HTTP specification wants 200 for an invalid document if the client asked for JSON.
    if (!isInvalidDocument || type !== mediaTypes.json) status = Math.max(status, http?.status ?? 0);
  }
  return {
    status,
    headers,
    body: serialize({ ...result, errors: errors.map((error) => shownError(error, isAfterChange(error))) as never }),
  };
}

/** An error as the caller gets it: without what it says about the response. @param isChanged whether a change was made before. */
function shownError({ message, locations, path, extensions }: GraphQLError, isChanged: boolean): object {
  const { http: _, ...shown } = extensions;
  return { message: isChanged ? message.replace(nothingChanged, '') : message, locations, path, extensions: shown };
}

function serialize(result: ExecutionResult): string {
  const body = JSON.stringify(result);
  assertResponseSize(body);
  return body;
}
