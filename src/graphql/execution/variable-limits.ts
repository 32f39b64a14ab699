import {
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { RawVariables } from '../schema/field-cost.ts';

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
