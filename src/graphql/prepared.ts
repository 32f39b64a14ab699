import {
  coerceInputValue,
  type DocumentNode,
  execute,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql';
import { asGatewayError, InvalidInput, type Issue } from '../domain/errors.ts';
import { compile } from './compiled.ts';
import type { GraphQLContext } from './context.ts';

/** An operation that is known to fit the schema, ready to be executed any number of times. */
export interface PreparedOperation {
  /** The variables that it declares; others in what it is given are ignored. */
  readonly variableNames: readonly string[];
  /**
   * Executes it and returns the data of its one root field; or, when a variable is missing or of another type, an
   * {@link InvalidInput} whose paths begin with the variables' names.
   *
   * @throws GatewayError when the field failed unexpectedly.
   */
  run(given: Readonly<Record<string, unknown>>, context: GraphQLContext): Promise<unknown>;
}

/** Parses and validates an operation with one root field. @throws Error when it does not fit the schema. */
export function prepareOperation(schema: GraphQLSchema, source: string): PreparedOperation {
  const document = parse(source);
  const faults = validate(schema, document);
  if (faults.length > 0) throw new Error(`The operation does not fit the schema: ${faults.join(' ')}\n${source}`);
  const variables = declaredVariables(schema, document);
  const compiled = compile(schema, document);

  return {
    variableNames: [...variables.keys()],
    async run(given, contextValue) {
      const picked = [...variables.keys()].filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]);
      const variableValues = Object.fromEntries(picked);
      const { data, errors } = compiled
        ? await compiled(undefined, contextValue, variableValues)
        : await execute({ schema, document, variableValues, contextValue });
      if (!errors?.[0]) return Object.values(data ?? {})[0];
      if (!data) return new InvalidInput(variableIssues(variables, variableValues));
      throw asGatewayError(causeOf(errors[0]));
    },
  };
}

/** The error that a resolver threw, out of the GraphQL errors around it; the error itself when it is GraphQL's own. */
export function causeOf(error: GraphQLError): Error {
  const { originalError } = error;
  return originalError ? causeOf(originalError as GraphQLError) : error;
}

function declaredVariables(schema: GraphQLSchema, document: DocumentNode): Map<string, GraphQLInputType> {
  const operation = document.definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION);
  const definitions = operation?.variableDefinitions ?? [];
  return new Map(definitions.map(({ variable, type }) => [variable.name.value, typeFromAST(schema, type) as GraphQLInputType]));
}

/** What is wrong with the variables, each fault with its path: GraphQL's own errors have it in their text only. */
function variableIssues(variables: Map<string, GraphQLInputType>, values: Record<string, unknown>): Issue[] {
  const issues: Issue[] = [];
  for (const [name, type] of variables) {
    const value = values[name];
    if (value == null && isNonNullType(type)) issues.push({ path: [name], message: 'is required.' });
    else if (value !== undefined) {
      coerceInputValue(value, type, (path, _value, { message }) => issues.push({ path: [name, ...path], message }));
    }
  }
  return issues;
}
