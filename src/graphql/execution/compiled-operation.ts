import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { GraphQLContext } from '../context.ts';

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
