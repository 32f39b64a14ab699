import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  type InlineFragmentNode,
  isAbstractType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { graphqlLimits } from '../limits.ts';
import { jsonLength } from '../scalars.ts';
import { type FieldCost, lookUpCost, type RawVariables } from '../selection.ts';
import { createIntrospectionCounter, fragmentsOf, isIntrospectionField } from './documents.ts';

/** How many items a list is taken to have whose field does not say it. */
const defaultListSize = 10;

/** How many characters of arguments cost as much as one field. */
export const charactersPerUnit = 64;

/** The cost of an operation, as far as its document decides it. */
export interface DocumentCost {
  /** The whole cost if the variables had no characters. */
  readonly base: number;
  /** How often an execution reads arguments that hold variables: so often do the characters of the variables count at most. */
  readonly variableUses: number;
  /** Whether variables decide more than how many characters there are: the length of a list, say. */
  readonly dependsOnVariables: boolean;
}

/**
 * The cost of an operation with these variables. Every field costs 1, and 1 more for each 64 characters of its arguments; a root
 * field 20 more; what a field's extension adds; and for a list the cost of its item's fields times its size: what the field's
 * extension says, or 10. The fields of a connection cost once, those of its items as often as its page has items. Of the fields
 * of a union or an interface those of the costliest possible type count. Introspection costs what it resolves on the real schema.
 * Directives are not considered. Takes time linear in the document, for each possible type.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  given: RawVariables,
): number {
  return measure(schema, document, operation, { ...defaultsOf(operation), ...given }).base;
}

/** What the document decides of an operation's cost. */
export function documentCostOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): DocumentCost {
  return measure(schema, document, operation, defaultsOf(operation));
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): RawVariables {
  const defaults: Record<string, unknown> = Object.create(null);
  for (const { variable, defaultValue } of variableDefinitions) {
    if (defaultValue) defaults[variable.name.value] = valueFromASTUntyped(defaultValue);
  }
  return defaults;
}

interface Measured {
  cost: number;
  uses: number;
  /** Of what is selected of the items of the page that the selection is a part of, for one item. */
  itemCost: number;
  itemUses: number;
}

const measures = ['cost', 'uses', 'itemCost', 'itemUses'] as const;
const nothing: Readonly<Measured> = { cost: 0, uses: 0, itemCost: 0, itemUses: 0 };

function measure(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: RawVariables,
): DocumentCost {
  const fragments = fragmentsOf(document);
  const root = schema.getRootType(operation.operation);
  const measured = new Map<SelectionSetNode, Map<GraphQLObjectType, Measured>>();
  const lengths = new Map<object, number>();
  const countIntrospection = createIntrospectionCounter({ schema, fragments, variables, limit: graphqlLimits.maxCost });
  let dependsOnVariables = false;

  /** Of an interface or a union the most that one of its types costs: each object has one of them. */
  function selectionsOf(selectionSet: SelectionSetNode, type: GraphQLCompositeType): Measured {
    if (isObjectType(type)) return selectionsOfObject(selectionSet, type);
    const most = { ...nothing };
    for (const possible of schema.getPossibleTypes(type)) {
      const part = selectionsOfObject(selectionSet, possible);
      for (const key of measures) most[key] = Math.max(most[key], part[key]);
    }
    return most;
  }

  /** Each selection set is measured once for each type; a fragment that contains itself does not pass validation. */
  function selectionsOfObject(selectionSet: SelectionSetNode, type: GraphQLObjectType): Measured {
    const known = measured.get(selectionSet)?.get(type);
    if (known) return known;
    const total = { ...nothing };
    for (const selection of selectionSet.selections) {
      const part = selection.kind === Kind.FIELD ? fieldOf(selection, type) : fragmentOf(selection, type);
      for (const key of measures) total[key] = Math.min(Number.MAX_SAFE_INTEGER, total[key] + part[key]);
    }
    const ofTypes = measured.get(selectionSet) ?? new Map<GraphQLObjectType, Measured>();
    measured.set(selectionSet, ofTypes.set(type, total));
    return total;
  }

  function fragmentOf(selection: InlineFragmentNode | FragmentSpreadNode, type: GraphQLObjectType): Measured {
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
    const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
    if (!fragment || (condition && !appliesTo(condition, type))) return nothing;
    return selectionsOfObject(fragment.selectionSet, type);
  }

  const appliesTo = (condition: GraphQLNamedType, type: GraphQLObjectType): boolean =>
    condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));

  function fieldOf(field: FieldNode, type: GraphQLObjectType): Measured {
    if (isIntrospectionField(field.name.value)) {
      if (field.arguments?.some(({ value }) => hasVariable(value))) dependsOnVariables = true;
      return { ...nothing, cost: countIntrospection(field) };
    }
    const definition = type.getFields()[field.name.value];
    if (!definition) return { ...nothing, cost: 1 }; // __typename
    const { cost, listSize, pageSize, isPage } = definition.extensions as FieldCost;
    const holdsVariable = field.arguments?.some(({ value }) => hasVariable(value)) ?? false;
    if (holdsVariable && (cost || listSize || pageSize)) dependsOnVariables = true;
    const args = argumentsOf(field, variables);
    const base = type === root ? 1 + lookUpCost : 1;
    const own = base + Math.floor(jsonLength(args, lengths) / charactersPerUnit) + (cost?.(args) ?? 0);
    const childType = getNamedType(definition.type);
    const child = field.selectionSet && isCompositeType(childType) ? selectionsOf(field.selectionSet, childType) : nothing;
    const uses = holdsVariable ? 1 : 0;
    if (isPage) return { cost: own, uses, itemCost: child.cost, itemUses: child.uses };
    const size = listSize?.(args) ?? (isList(definition) ? defaultListSize : 1);
    const items = size * (pageSize?.(args) ?? 1);
    return {
      ...nothing,
      cost: Math.min(Number.MAX_SAFE_INTEGER, own + size * child.cost + items * child.itemCost),
      uses: Math.min(Number.MAX_SAFE_INTEGER, uses + size * child.uses + items * child.itemUses),
    };
  }

  const { cost, uses } = isObjectType(root) ? selectionsOf(operation.selectionSet, root) : nothing;
  return { base: cost, variableUses: uses, dependsOnVariables };
}

const isList = ({ type }: GraphQLField<unknown, unknown>): boolean => isListType(getNullableType(type));

function argumentsOf({ arguments: given = [] }: FieldNode, variables: RawVariables): RawVariables {
  const args: Record<string, unknown> = Object.create(null);
  for (const { name, value } of given) args[name.value] = valueFromASTUntyped(value, variables);
  return args;
}

function hasVariable(value: ValueNode): boolean {
  switch (value.kind) {
    case Kind.VARIABLE:
      return true;
    case Kind.LIST:
      return value.values.some(hasVariable);
    case Kind.OBJECT:
      return value.fields.some((field) => hasVariable(field.value));
    default:
      return false;
  }
}
