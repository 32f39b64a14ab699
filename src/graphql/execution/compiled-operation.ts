import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { OperationNames } from '../../metrics/operation-names.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { GraphQLContext } from '../context.ts';
import type { OperationExecutor } from './execute.ts';

/** An operation as a JavaScript function: takes the root value, the context, and the variables. */
export type CompiledOperation = (
  root: unknown,
  context: GraphQLContext,
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Compiles a valid document with one operation, whatever constructs it has; nothing if that cannot be done. */
export function compileOperation(schema: GraphQLSchema, document: DocumentNode): CompiledOperation | undefined {
  try {
    const compiled = compileQuery(schema, document);
    return isCompiledQuery(compiled) ? compiled.query : undefined;
  } catch {
    return undefined;
  }
}

/** The error that a resolver threw, out of the GraphQL errors around it; the error itself when it is GraphQL's own. */
export function causeOf(error: GraphQLError): Error {
  const { originalError } = error;
  return originalError ? causeOf(originalError as GraphQLError) : error;
}

/** The same executor with a span for each operation. @param names bounds the names of the spans. */
export function traceOperations(executor: OperationExecutor, names: OperationNames, tracing: Tracing): OperationExecutor {
  return {
    ...executor,
    run(known, request) {
      const { operation, name } = known.operation;
      const shown = names.shown(name?.value, request.context.caller.apiToken !== undefined);
      return tracing.operation(operation, shown, () => executor.run(known, request));
    },
  };
}
