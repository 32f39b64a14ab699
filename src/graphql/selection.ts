import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** Arguments as the document has them: unchecked, and with a symbol in the place of each variable. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a root field costs beyond the 1 of every field, because it queries the database. */
export const lookUpCost = 20;

/** What a list with the argument `filter` costs: a filtered page may take as long as many look-ups. */
export const filterCost = ({ filter }: RawVariables): number => (filter == null ? 0 : 300);

/** The cost of a field, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has, at most. */
  readonly listSize?: (args: RawVariables) => number;
  /** How many items the page of a connection has, at most: what is below its fields with {@link isPage} counts so often. */
  readonly pageSize?: (args: RawVariables) => number;
  readonly isPage?: true;
  /** How many values of up to 64 KiB it has. */
  readonly heavy?: number;
  /** Refuses heavy fields below this one, with this text. */
  readonly refusesHeavy?: string;
}

/** The part of a resolver's info that has the selection. */
export interface SelectionInfo {
  readonly fieldNodes: readonly FieldNode[];
  readonly fragments?: Readonly<Record<string, FragmentDefinitionNode>> | undefined;
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
