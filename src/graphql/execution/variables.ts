import {
  type ASTVisitor,
  type FloatValueNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  type IntValueNode,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  print,
  type TypeNode,
  typeFromAST,
  type ValidationContext,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
} from 'graphql';
import { isExactNumber } from '../../json.ts';
import type { RawVariables } from '../selection.ts';

/** The types whose values are JSON that GraphQL leaves as it was sent, or as the type says: not times and enum values. */
const jsonTypes: ReadonlySet<string> = new Set(['JSON', 'String', 'Int', 'Float', 'Boolean', 'ID']);

/**
 * The validation rule for variables within JSON literals, whose positions have no type that others could be compared with: they
 * must be JSON themselves. What GraphQL makes of other types, such as of a DateTime, is not what was sent.
 */
export function JsonVariablesRule(context: ValidationContext): ASTVisitor {
  const inLiterals = new Set<VariableNode>();
  const checkVariables = (operation: OperationDefinitionNode): void => {
    const { variableDefinitions = [] } = operation;
    const definitions = new Map(variableDefinitions.map((definition) => [definition.variable.name.value, definition]));
    const used = new Map<string, VariableNode>();
    for (const { node } of context.getRecursiveVariableUsages(operation))
      if (inLiterals.has(node)) used.set(node.name.value, node);
    for (const [name, node] of used) {
      const definition = definitions.get(name);
      if (definition) checkVariable(node, definition);
    }
  };
  const checkVariable = (node: VariableNode, { type, defaultValue }: VariableDefinitionNode): void => {
    if (jsonTypes.has(nameOf(type))) {
      // GraphQL rounds it to what JavaScript can represent.
      const rounded = defaultValue && nameOf(type) !== 'ID' ? findInexact(defaultValue) : undefined;
      if (rounded)
        context.reportError(new GraphQLError(`The number ${rounded.value} cannot be represented exactly.`, { nodes: rounded }));
      return;
    }
    const message =
      `Variable "$${node.name.value}" of type "${print(type)}" cannot be a part of a JSON value. Send the whole value as one variable ` +
      'of type JSON.';
    context.reportError(new GraphQLError(message, { nodes: node }));
  };
  return {
    // The only literals of scalars that are objects. In a list of JSON, variables have a type, which another rule compares.
    ObjectValue(literal) {
      if (!isScalarType(getNamedType(context.getInputType()))) return;
      visit(literal, { Variable: (node) => void inLiterals.add(node) });
    },
    Document: {
      leave({ definitions }) {
        for (const definition of definitions) if (definition.kind === Kind.OPERATION_DEFINITION) checkVariables(definition);
      },
    },
  };
}

/** The first number in a value that JavaScript cannot represent exactly. */
function findInexact(value: ValueNode): IntValueNode | FloatValueNode | undefined {
  let found: IntValueNode | FloatValueNode | undefined;
  const check = (node: IntValueNode | FloatValueNode): void => {
    if (!isExactNumber(node.value)) found ??= node;
  };
  visit(value, { IntValue: check, FloatValue: check });
  return found;
}

const nameOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type));

/** How many members or items a value may have where a single value is expected. */
const maxMembers = 20;

/** Checks the variables of one operation. @returns what is wrong with them, if anything is. */
export type VariableCheck = (variables: RawVariables) => GraphQLError | undefined;

/**
 * Finds values with far more members than their type has. graphql-js rejects these too, but prints all of their members in each
 * of its errors. Linear in the size of the variables.
 */
export function createVariableCheck(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): VariableCheck {
  const types = variableDefinitions.flatMap(({ variable, type }) => {
    const inputType = typeFromAST(schema, type as never);
    return isInputType(inputType) ? [[variable.name.value, inputType] as const] : [];
  });
  return (variables) => {
    for (const [name, type] of types) {
      if (Object.hasOwn(variables, name) && isOversized(variables[name], type)) {
        return new GraphQLError(`The value of variable "$${name}" has too many members for its type ${type}.`);
      }
    }
    return undefined;
  };
}

function isOversized(value: unknown, type: GraphQLInputType): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isNonNullType(type)) return isOversized(value, type.ofType);
  if (isListType(type)) {
    return Array.isArray(value) ? value.some((item) => isOversized(item, type.ofType)) : isOversized(value, type.ofType);
  }
  if (isScalarType(type) && type.name === 'JSON') return false;
  if (Object.keys(value).length > maxMembers) return true;
  if (!isInputObjectType(type)) return Object.values(value).some((item) => isOversized(item, type));
  const fields = type.getFields();
  return Object.entries(value).some(([name, item]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field !== undefined && isOversized(item, field.type);
  });
}
