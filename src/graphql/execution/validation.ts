import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  GraphQLID,
  type GraphQLInputField,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  isInputObjectType,
  isObjectType,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type ObjectFieldNode,
  print,
  type SelectionSetNode,
  specifiedRules,
  typeFromAST,
  type ValidationRule,
  type ValueNode,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { longDocumentLength } from '../limits.ts';
import { parseDocument } from './documents.ts';
import { documentBounds } from './fast-path.ts';
import { JsonVariablesRule } from './variables.ts';

/** The rules for documents. @param introspection whether they may read the schema. */
export const validationRules = (introspection: boolean): readonly ValidationRule[] => [
  ...specifiedRules,
  JsonVariablesRule,
  ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
];

/** Parses and validates a short text within the limits; nothing if it is long, or not valid. */
export type ReadDocument = (text: string) => DocumentNode | undefined;

/**
 * Creates a reader of documents. It keeps the shapes of valid ones, in a bounded cache, because validation takes thirty times as
 * long as parsing: clients that write values into their documents send one that is new with each request.
 */
export function createDocumentReader(schema: GraphQLSchema, rules: readonly ValidationRule[]): ReadDocument {
  const valid = new LRUCache<string, true>({ ...documentBounds, sizeCalculation: (_, shape) => shape.length });
  return (text) => {
    if (text.length > longDocumentLength) return undefined;
    try {
      const document = parseDocument(text);
      const shape = shapeOf(schema, document);
      if (shape !== undefined && valid.get(shape)) return document;
      if (validate(schema, document, rules, { maxErrors: 1 }).length > 0) return undefined;
      if (shape !== undefined) valid.set(shape, true);
      return document;
    } catch {
      return undefined;
    }
  };
}

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
  const root = schema.getRootType(operation.operation);
  if (!root) return undefined; // a subscription

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
    if (given?.length) addMembers(given, field?.args);
    if (selectionSet) addSelections(selectionSet, getNamedType(field?.type));
    else shape += ' ';
  }

  function addMembers(
    members: readonly (ArgumentNode | ObjectFieldNode)[],
    types: readonly (GraphQLArgument | GraphQLInputField)[] | undefined,
  ): void {
    shape += '(';
    for (const { name, value } of members) {
      shape += `${name.value}:`;
      addValue(value, getNamedType(types?.find((type) => type.name === name.value)?.type));
    }
    shape += ')';
  }

  /** @param type the named one of the position. Where it takes any literal of a kind, the literal itself is left out. */
  function addValue(value: ValueNode, type: GraphQLNamedType | undefined): void {
    if (value.kind === Kind.VARIABLE) shape += `$${numberOf('variable', value.name.value)}`;
    else if (value.kind === Kind.STRING) {
      if (value.block) isComplete = false; // different ones may be printed alike, by which validation compares them
      shape += `"${numberOf('string', value.value)}${type === GraphQLString || type === GraphQLID ? '' : print(value)}`;
    } else if (value.kind === Kind.INT) {
      const isAny = (type === GraphQLInt || type === GraphQLID) && shortInteger.test(value.value);
      shape += `#${numberOf('integer', value.value)}${isAny ? '' : `=${value.value}`}`;
    } else if (value.kind === Kind.LIST) {
      shape += '[';
      for (const item of value.values) addValue(item, type);
      shape += ']';
    } else if (value.kind === Kind.OBJECT) {
      addMembers(value.fields, isInputObjectType(type) ? Object.values(type.getFields()) : undefined);
    } else shape += print(value);
    shape += ' ';
  }

  for (const { variable, type, defaultValue, directives } of operation.variableDefinitions ?? []) {
    if (directives?.length) isComplete = false;
    shape += `$${numberOf('variable', variable.name.value)}:${print(type)}`;
    if (defaultValue) {
      shape += '=';
      addValue(defaultValue, getNamedType(typeFromAST(schema, type as never)));
    }
  }
  addSelections(operation.selectionSet, root);
  return isComplete ? shape : undefined;
}
