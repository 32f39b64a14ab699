import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  isScalarType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { GraphQLContext } from '../context.ts';
import type { FieldCost } from '../selection.ts';

/** An operation as a JavaScript function: takes the root value, the context, and the variables. */
export type CompiledOperation = (
  root: unknown,
  context: GraphQLContext,
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Compiles a valid document, if it is compilable; nothing if not, or if that fails. */
export function compileOperation(schema: GraphQLSchema, document: DocumentNode): CompiledOperation | undefined {
  if (!isCompilable(schema, document)) return undefined;
  try {
    const compiled = compileQuery(schema, document);
    return isCompiledQuery(compiled) ? compiled.query : undefined;
  } catch {
    return undefined;
  }
}

/** The longest document that is compiled, in characters: the function that it becomes grows with it. */
const maxCompiledCharacters = 2_000;

/** Scalars whose variables compiled code and graphql-js coerce alike. */
const variableScalars: ReadonlySet<string> = new Set(['String', 'ID', 'Int', 'Boolean']);

/** Scalars whose results they serialize alike. */
const resultScalars: ReadonlySet<string> = new Set(['String', 'ID', 'Int', 'Boolean', 'DateTime', 'JSON']);

/**
 * Whether a valid document consists only of constructs for which compiled code was shown to respond as graphql-js does (by the
 * generated requests of `npm run fuzz`). Whatever is not named here, such as a kind of syntax node that does not exist yet, is
 * left to graphql-js. Named here are: one query without directives and fragments; required variables of built-in scalars
 * without defaults; fields of object types that appear once in their selection set, return objects, leaves, or lists of them, are
 * not slow, and whose arguments have no defaults; and as arguments whole variables, strings, integers, booleans, enum values, and
 * input objects of these.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  const [operation] = document.definitions;
  if (document.definitions.length !== 1 || operation?.kind !== Kind.OPERATION_DEFINITION) return false;
  if (operation.operation !== OperationTypeNode.QUERY || hasDirectives(operation)) return false;
  if ((document.loc?.source.body.length ?? Number.POSITIVE_INFINITY) > maxCompiledCharacters) return false;
  const queryType = schema.getQueryType();
  return (
    queryType != null &&
    (operation.variableDefinitions ?? []).every(isPlainVariable) &&
    areSelectionsCompilable(operation.selectionSet, queryType)
  );
}

const hasDirectives = ({ directives }: { readonly directives?: readonly unknown[] | undefined }): boolean =>
  directives !== undefined && directives.length > 0;

/** Names that objects inherit, or that JavaScript treats as more than data. */
const isPlainName = (name: string): boolean => !name.startsWith('__') && !(name in Object.prototype);

function isPlainVariable({ variable, type, defaultValue, directives }: VariableDefinitionNode): boolean {
  return (
    isPlainName(variable.name.value) &&
    defaultValue === undefined &&
    !hasDirectives({ directives }) &&
    type.kind === Kind.NON_NULL_TYPE &&
    type.type.kind === Kind.NAMED_TYPE &&
    variableScalars.has(type.type.name.value)
  );
}

function areSelectionsCompilable({ selections }: SelectionSetNode, type: GraphQLObjectType): boolean {
  const names = new Set<string>();
  for (const selection of selections) {
    if (selection.kind !== Kind.FIELD || hasDirectives(selection)) return false;
    const { alias, name } = selection;
    const responseName = (alias ?? name).value;
    if (names.has(responseName)) return false;
    names.add(responseName);
    if (alias && !isPlainName(alias.value)) return false;
    if (name.value !== '__typename' && !isFieldCompilable(selection, type)) return false;
  }
  return true;
}

function isFieldCompilable(node: FieldNode, parent: GraphQLObjectType): boolean {
  const field = isPlainName(node.name.value) ? parent.getFields()[node.name.value] : undefined;
  return (
    field !== undefined &&
    // An operation whose compiled code fails is executed again: a list that the database stopped would be searched twice.
    !mayBeSlow(field, node) &&
    areArgumentsCompilable(node.arguments ?? [], field.args) &&
    isResultCompilable(field.type, node.selectionSet)
  );
}

/** Whether a field is slow with the arguments that are given, whatever their values are. */
function mayBeSlow({ extensions }: GraphQLField<unknown, unknown>, { arguments: given = [] }: FieldNode): boolean {
  const { isSlow } = extensions as FieldCost;
  return isSlow?.(Object.fromEntries(given.map(({ name }) => [name.value, true]))) ?? false;
}

function isResultCompilable(type: GraphQLOutputType, selectionSet: SelectionSetNode | undefined): boolean {
  const nullable = getNullableType(type);
  const result = isListType(nullable) ? getNullableType(nullable.ofType) : nullable;
  if (isObjectType(result)) return selectionSet !== undefined && areSelectionsCompilable(selectionSet, result);
  if (selectionSet) return false;
  return isEnumType(result) || (isScalarType(result) && resultScalars.has(result.name));
}

type Member = Pick<GraphQLArgument | GraphQLInputField, 'name' | 'type' | 'defaultValue'>;

/** Arguments of a field, or members of an input object. */
function areArgumentsCompilable(
  given: readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[],
  defined: readonly Member[],
): boolean {
  if (defined.some(({ defaultValue }) => defaultValue !== undefined)) return false;
  const types = new Map(defined.map(({ name, type }) => [name, type]));
  return given.every(({ name, value }) => {
    const type = types.get(name.value);
    return type !== undefined && isPlainName(name.value) && isValueCompilable(value, getNullableType(type));
  });
}

function isValueCompilable(value: ValueNode, type: GraphQLInputType): boolean {
  switch (value.kind) {
    case Kind.VARIABLE:
      return isEnumType(type) || (isScalarType(type) && variableScalars.has(type.name));
    case Kind.STRING:
    case Kind.INT:
    case Kind.BOOLEAN:
      return isScalarType(type) && variableScalars.has(type.name);
    case Kind.ENUM:
      return isEnumType(type);
    case Kind.OBJECT:
      return isInputObjectType(type) && areArgumentsCompilable(value.fields, Object.values(type.getFields()));
    default:
      return false;
  }
}
