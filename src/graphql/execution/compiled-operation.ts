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
import { GatewayError, InvalidInput } from '../../domain/errors.ts';
import { asGatewayError } from '../../domain/failures.ts';
import type { InputCheck } from '../../domain/user-group-input.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { inputCheckExtension } from '../schema/input-check.ts';
import { compileOperation } from './compile.ts';

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
