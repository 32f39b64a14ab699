import { type ExecutionResult, execute, type GraphQLError, type GraphQLSchema } from 'graphql';
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
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Answers a request at once if its document was admitted before and nothing about the request is unusual. Nothing, if it has
 * to go the long way; then nothing of it was executed.
 */
export type Lane = (request: LaneRequest) => Promise<LaneAnswer | undefined>;

/** A form that answers take. */
interface Form {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
}

const formOf = (mediaType: string): Form => ({ mediaType, headers: { 'content-type': `${mediaType}; charset=utf-8` } });
const json = formOf('application/json');
const graphqlJson = formOf('application/graphql-response+json');

/** What the server makes of the `Accept` headers that are usual among clients. Others are for it to negotiate. */
const forms = new Map<string | undefined, Form>([
  [undefined, json],
  ['*/*', json],
  ['application/json', json],
  ['application/json, text/plain, */*', json],
  ['application/graphql-response+json', graphqlJson],
  ['application/graphql-response+json, application/json', graphqlJson],
  ['application/graphql-response+json,application/json;q=0.9', graphqlJson],
]);

const parameterNames = new Set(['query', 'variables', 'operationName', 'extensions']);

/**
 * Builds the lane. It leaves out what the server does with each request that is the same each time (parsing, validation,
 * negotiation, requests and responses as objects), and executes on the same schema.
 */
export function createLane(schema: GraphQLSchema, admitted: AdmittedDocuments, failureHeaders: FailureHeaders): Lane {
  const compiledOf = compileOftenExecuted(schema);
  return async ({ params, accept, context: contextValue }) => {
    const { query } = params;
    const form = forms.get(accept);
    const document = typeof query === 'string' ? admitted.get(query) : undefined;
    if (!form || !document || !isPlain(params)) return undefined;

    const { variables: variableValues, operationName } = params;
    const compiled = operationName == null ? compiledOf(document) : undefined;
    let result = compiled && (await compiled(undefined, contextValue, variableValues));
    if (!result || result.errors) result = await execute({ schema, document, contextValue, variableValues, operationName });
    if (!result.errors) return { status: 200, headers: form.headers, body: JSON.stringify(result) };
    // Variables of a wrong type or an unknown operation: it did not come to executing anything.
    if (result.data === undefined) return undefined;
    return answerWithErrors(result.errors, result, form, contextValue, failureHeaders);
  };
}

/** Parameters of the types that they should have. */
interface PlainParams {
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
}

/** Whether the parameters are of the types that they should have; if not, it is for the server to say what is wrong. */
function isPlain(params: LaneRequest['params']): params is PlainParams & LaneRequest['params'] {
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
  { mediaType }: Form,
  { report }: GraphQLContext,
  failureHeaders: FailureHeaders,
): Promise<LaneAnswer> {
  const masked = errors.map((error) => publicError(error, 'Unexpected error.', failureHeaders) as GraphQLError);
  const finished = { ...result, errors: finishErrors(masked, report) };
  const response = processRegularResult(finished, { Response } as never, mediaType);
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
