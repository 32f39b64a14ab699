import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isLeafType,
  isNonNullType,
  type NonNullTypeNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  typeFromAST,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { GraphQLContext } from './context.ts';

/** What is executed: a valid document, and what goes with it. */
export interface Execution {
  readonly document: DocumentNode;
  readonly operationName: string | null | undefined;
  readonly variableValues: Readonly<Record<string, unknown>> | null | undefined;
  readonly contextValue: GraphQLContext;
}

/** Executes as the reference implementation does, and answers the same. */
export type Execute = (execution: Execution) => Promise<ExecutionResult>;

/** How often a document is executed before it is compiled, which costs as much as some ten to hundred executions. */
const usesBeforeCompiling = 3;

/**
 * An executor that compiles the queries that come again and again to JavaScript functions, which are some ten times faster
 * than walking through the document. Everything about errors is left to the reference implementation: a query that fails
 * is executed again by it, for it changes nothing; mutations are not compiled.
 */
export function compileOftenExecuted(schema: GraphQLSchema): Execute {
  const known = new WeakMap<DocumentNode, { uses: number; compiled: CompiledQuery['query'] | undefined }>();

  return async (execution) => {
    const { document, operationName, variableValues, contextValue } = execution;
    const entry = known.get(document) ?? { uses: 0, compiled: undefined };
    entry.uses += 1;
    if (entry.uses === 1) known.set(document, entry);
    if (entry.uses === usesBeforeCompiling) entry.compiled = compileSimpleQuery(schema, document);
    if (entry.compiled && operationName == null) {
      const result: ExecutionResult = await entry.compiled(undefined, contextValue, variableValues);
      if (!result.errors) return result;
    }
    return execute({ schema, ...execution });
  };
}

/** The longest document that is compiled, in characters: what it becomes grows with it. */
const maxCompiledCharacters = 2_000;

/** What compiled documents do otherwise: the order of fields with directives, and an alias that JavaScript takes for more than data. */
const unlike = /@|__proto__/;

/**
 * Compiles a document, if it is one query whose variables are required and of scalar and enumeration types: those it reads
 * alike. (It takes a variable that is left out for `null`, which inside of an input object is not the same.)
 */
function compileSimpleQuery(schema: GraphQLSchema, document: DocumentNode): CompiledQuery['query'] | undefined {
  const operation = getOperationAST(document);
  const source = document.loc?.source.body ?? '';
  if (operation?.operation !== OperationTypeNode.QUERY || unlike.test(source)) return undefined;
  // A fragment is expanded at each place that spreads it, so that a small document may become a huge function.
  if (document.definitions.length > 1 || source.length > maxCompiledCharacters) return undefined;
  return hasRequiredLeafVariables(schema, operation) ? compile(schema, document) : undefined;
}

/** Compiles a document whatever it is; nothing if that cannot be done. */
export function compile(schema: GraphQLSchema, document: DocumentNode): CompiledQuery['query'] | undefined {
  const compiled = compileQuery(schema, document);
  return isCompiledQuery(compiled) ? compiled.query : undefined;
}

function hasRequiredLeafVariables(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): boolean {
  return variableDefinitions.every(({ type }) => {
    const inputType = typeFromAST(schema, type as NonNullTypeNode);
    return isNonNullType(inputType) && isLeafType(getNamedType(inputType));
  });
}
