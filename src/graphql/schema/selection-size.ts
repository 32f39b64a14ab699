import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

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
