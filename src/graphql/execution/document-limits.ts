import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql';
import { graphqlLimits } from '../schema/limits.ts';

const { maxDepth, maxRepeatedFields, maxFragmentSpreads } = graphqlLimits;

/**
 * Checks the structure of a parsed document, so that validation, whose time grows faster than the document, is bounded.
 * Linear in the number of nodes. Fragments that contain themselves are left to validation.
 *
 * @throws GraphQLError when the document is nested too deep, repeats a field too often, or spreads too many fragments.
 */
export function assertDocumentLimits(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const depths = new Map<string, number>();
  let spreads = 0;

  function fragmentDepth(name: string): number {
    const known = depths.get(name);
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    if (!fragment) return 0;
    depths.set(name, 0); // while it is being measured: a cycle adds nothing
    const depth = depthOf(fragment.selectionSet, 0);
    depths.set(name, depth);
    return depth;
  }

  /** The depth of a selection set; `above` is how deep it stands in its definition. */
  function depthOf({ selections }: SelectionSetNode, above: number): number {
    if (above > maxDepth) throw tooDeep();
    const counts = new Map<string, number>();
    let deepest = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        spreads += 1;
        if (spreads > maxFragmentSpreads) {
          throw refusal(`The document exceeds the limit of ${maxFragmentSpreads} fragment spreads.`);
        }
        deepest = Math.max(deepest, fragmentDepth(selection.name.value));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        deepest = Math.max(deepest, depthOf(selection.selectionSet, above + 1));
      } else {
        const name = (selection.alias ?? selection.name).value;
        const count = (counts.get(name) ?? 0) + 1;
        if (count > maxRepeatedFields) {
          const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
          throw refusal(`"${shown}" exceeds the limit of ${maxRepeatedFields} uses in one selection set.`);
        }
        counts.set(name, count);
        if (selection.selectionSet) deepest = Math.max(deepest, 1 + depthOf(selection.selectionSet, above + 1));
      }
    }
    if (deepest > maxDepth) throw tooDeep();
    return deepest;
  }

  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) depthOf(definition.selectionSet, 0);
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragmentDepth(definition.name.value);
  }
}

function tooDeep(): GraphQLError {
  return refusal(`The document exceeds the limit of ${maxDepth} levels of nesting.`);
}

function refusal(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COSTLY' } });
}
