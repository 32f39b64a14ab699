import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  parse,
  validate,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { GatewayError, InvalidInput } from '../../errors.ts';
import { asGatewayError } from '../../failures.ts';
import type { OperationNames } from '../../metrics/operation-names.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { InputCheck } from '../../user-groups/rules.ts';
import { inputCheckExtension } from '../builder.ts';
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

/** A mutation that is valid against the schema, compiled once and executed any number of times. */
export interface CompiledMutation {
  /** The name of the root field. */
  readonly fieldName: string;
  /**
   * Checks the caller and the input, executes the operation, and returns the data of its one root field; or the error that
   * the check found, with paths that begin at the input.
   *
   * @param input of any content: the root field's check validates it before GraphQL does, whose errors are for its own clients.
   * @throws GatewayError when the root field failed unexpectedly.
   */
  run(input: Readonly<Record<string, unknown>>, context: GraphQLContext): Promise<unknown>;
}

/**
 * Parses, validates and compiles a mutation with one root field, which has `checkInput`, and one variable, `$input`.
 *
 * @throws Error when it is not that, or does not fit the schema.
 */
export function compileMutation(schema: GraphQLSchema, source: string): CompiledMutation {
  const document = parse(source);
  const faults = validate(schema, document);
  const compiled = compileOperation(schema, document);
  const fieldName = rootFieldOf(document);
  const check = inputCheckOf(schema, fieldName);
  if (faults.length > 0 || !compiled || !check || fieldName === undefined) {
    throw new Error(`The operation is not valid against the schema: ${faults.join(' ')}\n${source}`);
  }

  return {
    fieldName,
    async run(input, contextValue) {
      try {
        check(contextValue.caller, input);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        contextValue.countError(error.code); // which resolvers do for theirs
        return error;
      }
      const { data, errors }: ExecutionResult = await compiled(undefined, contextValue, { input });
      // Without data nothing was executed: the input does not fit the schema, though its check found nothing.
      if (errors && !data) return new InvalidInput([{ path: [], message: 'has members of unexpected types.' }]);
      if (errors?.[0]) throw asGatewayError(causeOf(errors[0]));
      return Object.values(data ?? {})[0];
    },
  };
}

/** The error that a resolver threw, out of the GraphQL errors around it; the error itself when it is GraphQL's own. */
export function causeOf(error: GraphQLError): Error {
  const { originalError } = error;
  return originalError ? causeOf(originalError as GraphQLError) : error;
}

function rootFieldOf(document: DocumentNode): string | undefined {
  const [selection] = getOperationAST(document)?.selectionSet.selections ?? [];
  return selection?.kind === Kind.FIELD ? selection.name.value : undefined;
}

function inputCheckOf(schema: GraphQLSchema, fieldName = ''): InputCheck<Readonly<Record<string, unknown>>> | undefined {
  const field = schema.getMutationType()?.getFields()[fieldName];
  return field?.extensions[inputCheckExtension] as InputCheck<Readonly<Record<string, unknown>>> | undefined;
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

/** The same mutation with a span for each execution. */
export function traceMutation(mutation: CompiledMutation, tracing: Tracing): CompiledMutation {
  const { fieldName } = mutation;
  return { fieldName, run: (input, context) => tracing.operation('mutation', fieldName, () => mutation.run(input, context)) };
}
