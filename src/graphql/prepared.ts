import {
  coerceInputValue,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  getNullableType,
  getOperationAST,
  isInputObjectType,
  type NonNullTypeNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql';
import { asGatewayError, InvalidInput, type Issue } from '../domain/errors.ts';
import { compileOperation } from './compiled.ts';
import type { GraphQLContext } from './context.ts';

/** An operation that is known to fit the schema, ready to be executed any number of times. */
export interface PreparedOperation {
  /**
   * Executes it and returns the data of its one root field; or, when the input lacks a field or has one of another type, an
   * {@link InvalidInput} whose paths begin at the input.
   *
   * @throws GatewayError when the root field failed unexpectedly.
   */
  run(input: Readonly<Record<string, unknown>>, context: GraphQLContext): Promise<unknown>;
}

/**
 * Parses, validates and compiles an operation with one root field and one variable, `$input`, of a required input object.
 *
 * @throws Error when it is not that, or does not fit the schema.
 */
export function prepareOperation(schema: GraphQLSchema, source: string): PreparedOperation {
  const document = parse(source);
  const faults = validate(schema, document);
  const compiled = compileOperation(schema, document);
  if (faults.length > 0 || !compiled) throw new Error(`The operation does not fit the schema: ${faults.join(' ')}\n${source}`);
  const inputType = inputTypeOf(schema, document);

  return {
    async run(input, contextValue) {
      const { data, errors }: ExecutionResult = await compiled(undefined, contextValue, { input });
      if (!errors?.[0]) return Object.values(data ?? {})[0];
      if (!data) return new InvalidInput(inputIssues(inputType, input));
      throw asGatewayError(causeOf(errors[0]));
    },
  };
}

/** The error that a resolver threw, out of the GraphQL errors around it; the error itself when it is GraphQL's own. */
export function causeOf(error: GraphQLError): Error {
  const { originalError } = error;
  return originalError ? causeOf(originalError as GraphQLError) : error;
}

function inputTypeOf(schema: GraphQLSchema, document: DocumentNode): GraphQLInputObjectType {
  const [definition] = getOperationAST(document)?.variableDefinitions ?? [];
  const type = definition && getNullableType(typeFromAST(schema, definition.type as NonNullTypeNode));
  if (definition?.variable.name.value === 'input' && isInputObjectType(type)) return type;
  throw new Error('A prepared operation takes one variable, $input, of a required input object.');
}

/** How many faults are told. */
const maxIssues = 10;

/** What is wrong with an input, each fault with its path: GraphQL's own errors have it in their text only. */
function inputIssues(type: GraphQLInputObjectType, input: Readonly<Record<string, unknown>>): Issue[] {
  const issues: Issue[] = [];
  coerceInputValue(input, type, (path, _value, { message }) => {
    if (issues.length < maxIssues) issues.push({ path: [...path], message });
  });
  return issues;
}
