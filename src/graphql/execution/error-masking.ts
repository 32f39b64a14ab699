import { type ExecutionResult, GraphQLError } from 'graphql';
import { maskError } from 'graphql-yoga';
import { asGatewayError, type ErrorCode, errorCatalog, type GatewayError, InvalidInput, shorten } from '../../domain/errors.ts';
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
  const known = http?.status === 405 ? 'METHOD_NOT_ALLOWED' : code === 'INTERNAL_SERVER_ERROR' ? 'INTERNAL' : 'INVALID_INPUT';
  return withExtensions(error, error.message, { ...error.extensions, code: known });
}

/**
 * The error that a caller gets: an expected one with its code and message, any other one masked. Errors of GraphQL itself
 * (syntax, validation) are unchanged.
 */
export function publicError(error: unknown, message: string, failureHeaders: FailureHeaders): Error {
  const masked = maskError(error, message, false);
  if (masked === error || !(masked instanceof GraphQLError)) return masked;
  const cause = asGatewayError(error instanceof GraphQLError ? causeOf(error) : error);
  const { status } = errorCatalog[cause.code];
  const shown = withExtensions(masked, cause.message, {
    code: cause.code,
    ...(cause instanceof InvalidInput && { issues: cause.issues }),
    ...((status >= 500 || status === 429) && { http: { status, headers: failureHeaders(cause) } }),
  });
  if (status >= 500) faults.set(shown, cause);
  return shown;
}

/** Where the errors of a result are reported. */
export type Reporters = Pick<GraphQLContext, 'report' | 'countError'>;

/** The causes of masked errors. */
const faults = new WeakMap<Error, GatewayError>();

/**
 * Gives the errors of a result their codes, counts them, and logs the faults behind them, the gateway's own and the database's. A
 * result without data was not executed: a client that asked for `application/graphql-response+json` gets 400 for it, or what its
 * error says; the specification wants 200 for `application/json`.
 */
export function finishResult(result: ExecutionResult, { report, countError }: Reporters): ExecutionResult {
  if (!result.errors) return result;
  const errors = result.errors.map((error) => {
    const fault = faults.get(error);
    if (fault) report(fault);
    const coded = withCatalogCode(shortened(error));
    countError(coded.extensions['code'] as ErrorCode);
    if (coded.extensions['code'] === 'QUERY_TOO_COSTLY') {
      // Yoga marks errors of parsing as ones that have status 200 for some media types.
      return withExtensions(coded, coded.message, {
        ...coded.extensions,
        http: { status: errorCatalog.QUERY_TOO_COSTLY.status },
      });
    }
    if (result.data !== undefined || 'http' in coded.extensions) return coded;
    return withExtensions(coded, coded.message, { ...coded.extensions, http: { spec: true, status: 400 } });
  });
  return { ...result, errors };
}

/** Messages of GraphQL itself repeat what was sent, however long, and tokens as well. */
function shortened(error: GraphQLError): GraphQLError {
  const { message, extensions } = error;
  const shown = shorten(redactTokens(message), maxMessageLength);
  return shown === message ? error : withExtensions(error, shown, extensions);
}

/** The same error, with the same locations and path, with another message and extensions. */
function withExtensions({ nodes, source, positions, path }: GraphQLError, message: string, extensions: object): GraphQLError {
  const place = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  return new GraphQLError(message, { ...place, extensions: { ...extensions } });
}
