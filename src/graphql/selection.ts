import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** Arguments or variables as they were sent, before they are coerced: their types may be wrong. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a root field costs beyond the 1 of every field, because it queries the database. */
export const lookUpCost = 20;

/** What a list with the argument `filter` costs: a filtered page may take as long as many look-ups. */
export const filterCost = (args: RawVariables): number => (isFiltered(args) ? 300 : 0);

/** Whether a list has a filter, so that finding its items may take up to two seconds. */
export const isFiltered = ({ filter }: RawVariables): boolean => filter != null;

/** The cost of a field, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has. */
  readonly listSize?: (args: RawVariables) => number;
  /**
   * How many items the page of a connection has: so often counts what is selected below its fields that are marked as the page.
   */
  readonly pageSize?: (args: RawVariables) => number;
  /** Whether the database may take so long for it that it must not be read twice for one request. */
  readonly isSlow?: (args: RawVariables) => boolean;
  /** Marks the list of a connection's items. */
  readonly isPage?: true;
}

/** Whether a field with one of these names is selected anywhere below a field, fragments and skipped selections included. */
export function isAnySelected(names: ReadonlySet<string>, { fieldNodes, fragments = {} }: SelectionInfo): boolean {
  const visited = new Set<FragmentDefinitionNode>();
  const find = (selectionSet: SelectionSetNode | undefined): boolean =>
    selectionSet?.selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return names.has(selection.name.value) || find(selection.selectionSet);
      if (selection.kind === Kind.INLINE_FRAGMENT) return find(selection.selectionSet);
      const fragment = fragments[selection.name.value];
      if (!fragment || visited.has(fragment)) return false;
      visited.add(fragment);
      return find(fragment.selectionSet);
    }) ?? false;
  return fieldNodes.some(({ selectionSet }) => find(selectionSet));
}

/** How much one object adds to a response, at least: its fields, those of single objects and one item of lists below it. */
export interface SelectionSize {
  readonly fields: number;
  /** The characters of the names of these fields, and of the punctuation around them. */
  readonly characters: number;
}

/** The part of a resolver's info that has the selection. */
export interface SelectionInfo {
  readonly fieldNodes: readonly FieldNode[];
  readonly fragments?: Readonly<Record<string, FragmentDefinitionNode>> | undefined;
}

const nothing: SelectionSize = { fields: 0, characters: 0 };

/** Documents are kept and executed often; a selection set belongs to one document. */
const known = new WeakMap<SelectionSetNode, SelectionSize>();

/** The size of what a field selects of its objects. Each selection set of a document is measured once. */
export function selectionSizeOf({ fieldNodes, fragments = {} }: SelectionInfo): SelectionSize {
  let size = nothing;
  for (const { selectionSet } of fieldNodes) if (selectionSet) size = sum(size, measure(selectionSet, fragments));
  return size;
}

function measure(selectionSet: SelectionSetNode, fragments: Readonly<Record<string, FragmentDefinitionNode>>): SelectionSize {
  const before = known.get(selectionSet);
  if (before) return before;
  let size = nothing;
  for (const selection of selectionSet.selections) {
    if (selection.kind === Kind.FIELD) {
      const characters = (selection.alias ?? selection.name).value.length + 4;
      size = sum(size, { fields: 1, characters });
      if (selection.selectionSet) size = sum(size, measure(selection.selectionSet, fragments));
    } else {
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      if (inner) size = sum(size, measure(inner.selectionSet, fragments));
    }
  }
  known.set(selectionSet, size);
  return size;
}

const sum = (a: SelectionSize, b: SelectionSize): SelectionSize => ({
  fields: a.fields + b.fields,
  characters: a.characters + b.characters,
});
