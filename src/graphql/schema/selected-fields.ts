import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';
import type { SelectionInfo } from './selection-size.ts';

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
