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

/** What a document may consist of; fragments, directives, lists, floats, nulls and other types are left to graphql-js. */
const plainKinds = new Set<string>([
  Kind.DOCUMENT,
  Kind.OPERATION_DEFINITION,
  Kind.VARIABLE_DEFINITION,
  Kind.NON_NULL_TYPE,
  Kind.NAMED_TYPE,
  Kind.SELECTION_SET,
  Kind.FIELD,
  Kind.ARGUMENT,
  Kind.NAME,
  Kind.VARIABLE,
  Kind.STRING,
  Kind.INT,
  Kind.BOOLEAN,
  Kind.ENUM,
  Kind.OBJECT,
  Kind.OBJECT_FIELD,
]);

/**
 * Whether a valid document is one query of plain constructs: without unions and defaults of arguments, and with required
 * variables of built-in scalars. graphql-jit differs from graphql-js in details of the others.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  let isPlainQuery = document.definitions.length === 1;
  const require = (condition: boolean): void => {
    isPlainQuery &&= condition;
  };
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    enter(node) {
      require(plainKinds.has(node.kind));
      switch (node.kind) {
        case Kind.OPERATION_DEFINITION:
          return require(node.operation === OperationTypeNode.QUERY);
        case Kind.VARIABLE_DEFINITION:
          require(isPlain(node.variable.name.value) && node.type.kind === Kind.NON_NULL_TYPE && !node.defaultValue);
          return;
        case Kind.NAMED_TYPE:
          return require(isBuiltIn(node.name.value));
        case Kind.SELECTION_SET: {
          const names = node.selections.map((each) => each.kind === Kind.FIELD && (each.alias ?? each.name).value);
          return require(new Set(names).size === names.length);
        }
        case Kind.FIELD:
          require(node.alias === undefined || isPlain(node.alias.value));
          require(node.name.value === '__typename' || isPlain(node.name.value));
          require(!isAbstractType(getNamedType(types.getType())));
          return require(types.getFieldDef()?.args.every(({ defaultValue }) => defaultValue === undefined) ?? false);
        case Kind.OBJECT_FIELD:
          return require(types.getDefaultValue() === undefined);
        case Kind.OBJECT:
          return require(!isScalarType(getNamedType(types.getInputType())));
        case Kind.VARIABLE: {
          const type = getNamedType(types.getInputType());
          return require(type === undefined || isBuiltIn(type.name));
        }
      }
    },
  });
  visit(document, visitor);
  return isPlainQuery;
}
