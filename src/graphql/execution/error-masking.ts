import { GraphQLError } from 'graphql';
import { type ErrorCode, errorCatalog, type GatewayError, InvalidInput, shorten } from '../../domain/errors.ts';
import { asGatewayError } from '../../domain/failures.ts';
import { redactTokens } from '../../domain/tokens.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { graphqlLimits } from '../schema/limits.ts';
import { causeOf } from './compiled-operation.ts';

const { maxMessageLength } = graphqlLimits;

/** The headers that go with a failure's status. */
export type FailureHeaders = (failure: Pick<GatewayError, 'code' | 'retryAfterSeconds'>) => Record<string, string>;

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
export function publicError(error: unknown, failureHeaders: FailureHeaders): GraphQLError {
  const cause = error instanceof GraphQLError ? causeOf(error) : error;
  if (cause instanceof GraphQLError) return error as GraphQLError;
  const failure = asGatewayError(cause);
  const { code, message } = failure;
  const { status } = errorCatalog[code];
  const shown = withExtensions(error instanceof GraphQLError ? error : {}, message, {
    code,
    ...(failure instanceof InvalidInput && { issues: failure.issues }),
    ...((status >= 500 || status === 429) && { http: { status, headers: failureHeaders(failure) } }),
  });
  if (status >= 500) faults.set(shown, failure);
  return shown;
}

/** The causes of masked errors. */
const faults = new WeakMap<Error, GatewayError>();

/** Gives a public error its code, counts it, and logs the fault behind it, the gateway's own or the database's. */
export function finishError(
  error: GraphQLError,
  { report, countError }: Pick<GraphQLContext, 'report' | 'countError'>,
): GraphQLError {
  const fault = faults.get(error);
  if (fault) report(fault);
  const finished = withCatalogCode(shortened(error));
  countError(finished.extensions['code'] as ErrorCode);
  return finished;
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
