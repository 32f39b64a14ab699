import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  valueFromASTUntyped,
} from 'graphql';
import type { RawVariables } from '../schema/field-cost.ts';

/** What counting needs to know of the operation. */
export interface IntrospectionCounting {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: RawVariables;
  /** Counting stops as soon as the count exceeds this, so that it never takes longer than a permitted execution. */
  readonly limit: number;
}

/** The root fields of introspection. `__typename` is a field like others. */
const metaFields = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

/** Whether a root field of this name belongs to introspection. */
export const isIntrospectionField = (name: string): boolean => metaFields.has(name);

/** Counts the fields that one introspection field of an operation resolves; any number above the limit when these exceed it. */
export type IntrospectionCounter = (field: FieldNode) => number;

/**
 * Creates the counter of an operation. It counts on the real schema: the introspection types' own resolvers are followed, so the
 * count is that of an execution, with `@skip` and `@include` ignored. All fields of the operation share the limit, and selections
 * that were counted before are not counted again.
 */
export function createIntrospectionCounter({ schema, fragments, variables, limit }: IntrospectionCounting): IntrospectionCounter {
  const info = { schema } as GraphQLResolveInfo;
  const known = new Map<SelectionSetNode, Map<unknown, number>>();
  let visited = 0;

  function countValue(value: unknown, type: GraphQLOutputType, selectionSet: SelectionSetNode | undefined): number {
    const named = getNamedType(type);
    if (!selectionSet || value == null || !isObjectType(named)) return 0;
    if (!Array.isArray(value)) return countObject(value, named, selectionSet);
    let count = 0;
    for (const item of value) {
      count += countObject(item, named, selectionSet);
      if (count > limit) break;
    }
    return count;
  }

  function countObject(source: unknown, type: GraphQLObjectType, selectionSet: SelectionSetNode): number {
    const counts = known.get(selectionSet) ?? new Map<unknown, number>();
    known.set(selectionSet, counts);
    const before = counts.get(source);
    if (before !== undefined) return before;
    let count = 0;
    for (const selection of selectionSet.selections) {
      visited += 1;
      if (visited > limit || count > limit) return limit + 1;
      if (selection.kind === Kind.FIELD) {
        const definition = type.getFields()[selection.name.value];
        const value =
          definition && selection.selectionSet && definition.resolve?.(source, { includeDeprecated: true }, undefined, info);
        count += 1 + (definition ? countValue(value, definition.type, selection.selectionSet) : 0);
      } else {
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments.get(selection.name.value)?.selectionSet;
        if (inner) count += countObject(source, type, inner);
      }
    }
    counts.set(source, count);
    return count;
  }

  return (field) => {
    const definition = metaFields.get(field.name.value);
    if (!definition) return 0;
    if (visited > limit) return limit + 1;
    const name = field.arguments?.find((argument) => argument.name.value === 'name');
    const args = name ? { name: valueFromASTUntyped(name.value, variables) } : {};
    return 1 + countValue(definition.resolve?.(undefined, args, undefined, info), definition.type, field.selectionSet);
  };
}
