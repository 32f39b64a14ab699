import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import type { AdmittedDocuments } from './admitted.ts';
import { compileOftenExecuted } from './compiled.ts';
import type { GraphQLContext } from './context.ts';
import { type FailureHeaders, finishErrors, publicError } from './public-error.ts';

/** A request that is to be answered the short way. */
export interface LaneRequest {
  readonly params: Readonly<Record<string, unknown>>;
  /** The `Accept` header. */
  readonly accept: string | undefined;
  readonly context: GraphQLContext;
}

/** An answer, ready to be written. */
export interface LaneAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Answers a request at once if its document was admitted before and nothing about the request is unusual. Nothing, if it has
 * to go the long way; then nothing of it was executed.
 */
export type Lane = (request: LaneRequest) => Promise<LaneAnswer | undefined>;

/** What the server makes of the `Accept` headers that are usual among clients. Others are for it to negotiate. */
const contentTypes = new Map<string | undefined, string>([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/json, text/plain, */*', 'application/json'],
  ['application/graphql-response+json', 'application/graphql-response+json'],
  ['application/graphql-response+json, application/json', 'application/graphql-response+json'],
  ['application/graphql-response+json,application/json;q=0.9', 'application/graphql-response+json'],
]);

const parameterNames = new Set(['query', 'variables', 'operationName', 'extensions']);

/**
 * Builds the lane. It leaves out what the server does with each request that is the same each time (parsing, validation,
 * negotiation, requests and responses as objects), and executes on the same schema.
 */
export function createLane(schema: GraphQLSchema, admitted: AdmittedDocuments, failureHeaders: FailureHeaders): Lane {
  const execute = compileOftenExecuted(schema);
  return async ({ params, accept, context: contextValue }) => {
    const contentType = contentTypes.get(accept);
    const { query, variables, operationName } = params;
    const document = contentType && typeof query === 'string' ? admitted.get(query) : undefined;
    if (!document || !isPlain(params)) return undefined;

    const result = await execute({
      ...{ document, contextValue },
      variableValues: variables as Record<string, unknown> | null,
      operationName: operationName as string | null,
    });
    if (!result.errors) {
      return { status: 200, headers: { 'content-type': `${contentType}; charset=utf-8` }, body: JSON.stringify(result) };
    }
    // Variables of a wrong type or an unknown operation: it did not come to executing anything.
    if (!result.data) return undefined;
    return answerWithErrors(result.errors, result, contentType as string, contextValue, failureHeaders);
  };
}

/** Whether the parameters are of the types that they should have; if not, it is for the server to say what is wrong. */
function isPlain(params: LaneRequest['params']): boolean {
  for (const name in params) if (!parameterNames.has(name)) return false;
  const { variables, operationName, extensions } = params;
  return (
    isObjectOrNothing(variables) && isObjectOrNothing(extensions) && (operationName == null || typeof operationName === 'string')
  );
}

const isObjectOrNothing = (value: unknown): boolean => value == null || (typeof value === 'object' && !Array.isArray(value));

/** Failures are rare: they are put into form by the server's own function. */
async function answerWithErrors(
  errors: readonly GraphQLError[],
  result: ExecutionResult,
  contentType: string,
  { report }: GraphQLContext,
  failureHeaders: FailureHeaders,
): Promise<LaneAnswer> {
  const masked = errors.map((error) => publicError(error, 'Unexpected error.', failureHeaders) as GraphQLError);
  const finished = { ...result, errors: finishErrors(masked, report) };
  const response = processRegularResult(finished, { Response } as never, contentType);
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
