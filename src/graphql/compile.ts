import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isScalarType,
  Kind,
  OperationTypeNode,
  specifiedScalarTypes,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { GraphQLContext } from './context.ts';

/** An operation as a JavaScript function: takes the root value, the context, and the variables. */
export type CompiledOperation = (
  root: unknown,
  context: GraphQLContext,
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Compiles a valid document, if graphql-jit executes it as graphql-js does. */
export function compileOperation(schema: GraphQLSchema, document: DocumentNode): CompiledOperation | undefined {
  if (!isCompilable(schema, document)) return undefined;
  const compiled = compileQuery(schema, document, undefined, { disablingCapturingStackErrors: true });
  return isCompiledQuery(compiled) ? compiled.query : undefined;
}

const isBuiltIn = (name: string): boolean => specifiedScalarTypes.some((type) => type.name === name);

/** Names that objects inherit. */
const isPlain = (name: string): boolean => !name.startsWith('__') && !(name in Object.prototype);

/**
 * Whether a valid document is one query of plain constructs: without directives, fragments, unions, defaults and lists of
 * arguments, and with required variables of built-in scalars. graphql-jit differs from graphql-js in details of the others.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  if (document.definitions.length !== 1) return false;
  let isPlainQuery = true;
  const require = (condition: boolean): void => {
    isPlainQuery &&= condition;
  };
  const refuse = { enter: () => require(false) };
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    OperationDefinition: ({ operation }) => require(operation === OperationTypeNode.QUERY),
    VariableDefinition({ variable, type, defaultValue }) {
      const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
      require(isPlain(variable.name.value) && type !== named && !defaultValue);
      require(named.kind === Kind.NAMED_TYPE && isBuiltIn(named.name.value));
    },
    SelectionSet({ selections }) {
      require(
        new Set(selections.map((node) => node.kind === Kind.FIELD && (node.alias ?? node.name).value)).size === selections.length,
      );
    },
    Field({ name, alias }) {
      require(alias === undefined || isPlain(alias.value));
      require(name.value === '__typename' || isPlain(name.value));
      require(!isAbstractType(getNamedType(types.getType())));
      require(types.getFieldDef()?.args.every(({ defaultValue }) => defaultValue === undefined) ?? false);
    },
    ObjectField: () => require(types.getDefaultValue() === undefined),
    Variable() {
      const type = types.getInputType();
      require(type === undefined || (isScalarType(getNamedType(type)) && isBuiltIn(getNamedType(type)?.name ?? '')));
    },
    Directive: refuse,
    FragmentSpread: refuse,
    InlineFragment: refuse,
    ListValue: refuse,
    NullValue: refuse,
    FloatValue: refuse,
    ListType: refuse,
    ObjectValue() {
      require(!isScalarType(getNamedType(types.getInputType())));
    },
  });
  visit(document, visitor);
  return isPlainQuery;
}
