import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  GraphQLID,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  isInputObjectType,
  isObjectType,
  Kind,
  OperationTypeNode,
  print,
  type SelectionSetNode,
  typeFromAST,
  type ValueNode,
} from 'graphql';

type Members = readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[];
type Typed = readonly { readonly name: string; readonly type: GraphQLInputType }[] | undefined;

/** Whole numbers that fit into an `Int`, as every scalar takes them or none does. */
const shortInteger = /^-?\d{1,9}$/;

/**
 * A text that two documents share only if both are valid or neither is: they are equal but for comments and spaces, the name
 * of the operation, the names of variables and aliases, strings where a `String` or an `ID` is expected, and short integers
 * where an `Int` or an `ID` is. Each of these is replaced by the number of its first occurrence, so that what is equal in one
 * document is equal in the other. Undefined for documents with anything but one query or mutation of fields and inline
 * fragments, without directives.
 *
 * @param document within the limits, which bound the recursion.
 */
export function shapeOf(schema: GraphQLSchema, { definitions }: DocumentNode): string | undefined {
  const [operation] = definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || definitions.length > 1 || operation.directives?.length) return undefined;
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;

  const numbers = new Map<string, number>();
  let isComplete = true;
  let shape: string = operation.operation;

  /** Stands for a text that may be another one in other documents. The kind keeps those of different kinds apart. */
  function numberOf(kind: 'name' | 'variable' | 'string' | 'integer', text: string): number {
    const key = kind + text;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  }

  function addSelections({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): void {
    shape += '{';
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD || selection.directives?.length) isComplete = false;
      else if (selection.kind === Kind.FIELD) addField(selection, type);
      else {
        const condition = selection.typeCondition?.name.value;
        shape += `...${condition ?? ''}`;
        addSelections(selection.selectionSet, condition === undefined ? type : schema.getType(condition));
      }
    }
    shape += '}';
  }

  function addField({ name, alias, arguments: given, selectionSet }: FieldNode, parent: GraphQLNamedType | undefined): void {
    const field = isObjectType(parent) ? parent.getFields()[name.value] : undefined;
    shape += `${name.value}:${numberOf('name', (alias ?? name).value)}`;
    if (given?.length) addMembers('(', given, field?.args);
    if (selectionSet) addSelections(selectionSet, field && (getNamedType(field.type) as GraphQLCompositeType));
    else shape += ' ';
  }

  function addMembers(bracket: '(' | '{', members: Members, types: Typed): void {
    shape += bracket;
    for (const { name, value } of members) {
      shape += `${name.value}:`;
      addValue(value, types?.find((type) => type.name === name.value)?.type);
    }
    shape += ')';
  }

  function addValue(value: ValueNode, type: GraphQLInputType | undefined): void {
    const named = type && getNamedType(type);
    switch (value.kind) {
      case Kind.VARIABLE:
        shape += `$${numberOf('variable', value.name.value)} `;
        return;
      case Kind.STRING:
        if (value.block) isComplete = false; // different ones may be printed alike, by which validation compares them
        shape += `"${numberOf('string', value.value)}${named === GraphQLString || named === GraphQLID ? '' : print(value)} `;
        return;
      case Kind.INT: {
        const isAny = (named === GraphQLInt || named === GraphQLID) && shortInteger.test(value.value);
        shape += `#${numberOf('integer', value.value)}${isAny ? '' : `=${value.value}`} `;
        return;
      }
      case Kind.LIST:
        shape += '[';
        for (const item of value.values) addValue(item, named);
        shape += ']';
        return;
      case Kind.OBJECT:
        addMembers('{', value.fields, isInputObjectType(named) ? Object.values(named.getFields()) : undefined);
        return;
      default:
        shape += `${print(value)} `;
    }
  }

  for (const { variable, type, defaultValue, directives } of operation.variableDefinitions ?? []) {
    if (directives?.length) isComplete = false;
    shape += `$${numberOf('variable', variable.name.value)}:${print(type)}`;
    if (defaultValue) {
      shape += '=';
      addValue(defaultValue, typeFromAST(schema, type as never) as GraphQLInputType | undefined);
    }
  }
  addSelections(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined);
  return isComplete ? shape : undefined;
}
