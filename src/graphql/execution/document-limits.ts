import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql';
import { errorCatalog } from '../../domain/errors.ts';
import { graphqlLimits } from '../schema/limits.ts';

const { maxDepth, maxFragmentSpreads, maxNameLength, maxRepeatedFields } = graphqlLimits;

/**
 * Checks the structure of a parsed document, so that validation, whose time grows faster than the document, is bounded.
 * Fragments that contain themselves are left to validation.
 *
 * @throws GraphQLError when the document is nested too deep, repeats a field too often, spreads too many fragments, or has a
 *   response name that is too long.
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

  /** The depth of a selection set; `above` is its own depth in its definition. */
  function depthOf(selectionSet: SelectionSetNode, above: number): number {
    if (above > maxDepth) throw tooDeep();
    let deepest = 0;
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        spreads += 1;
        if (spreads > maxFragmentSpreads) {
          throw tooCostly(`The document exceeds the limit of ${maxFragmentSpreads} fragment spreads.`);
        }
        deepest = Math.max(deepest, fragmentDepth(selection.name.value));
      } else if (selection.selectionSet) {
        const own = selection.kind === Kind.FIELD ? 1 : 0;
        deepest = Math.max(deepest, own + depthOf(selection.selectionSet, above + 1));
      }
    }
    if (deepest > maxDepth) throw tooDeep();
    countNames(selectionSet, new Map(), new Set());
    return deepest;
  }

  /** Counts the response names of a selection set as validation compares them: with those of its fragments. */
  function countNames({ selections }: SelectionSetNode, counts: Map<string, number>, spread: Set<string>): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) countName((selection.alias ?? selection.name).value, counts);
      else if (selection.kind === Kind.INLINE_FRAGMENT) countNames(selection.selectionSet, counts, spread);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) countNames(fragment.selectionSet, counts, spread);
      }
    }
  }

  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) depthOf(definition.selectionSet, 0);
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragmentDepth(definition.name.value);
  }
}

function countName(name: string, counts: Map<string, number>): void {
  if (name.length > maxNameLength) {
    throw tooCostly(`The name "${name.slice(0, 32)}…" exceeds the limit of ${maxNameLength} characters.`);
  }
  const count = (counts.get(name) ?? 0) + 1;
  if (count > maxRepeatedFields) {
    throw tooCostly(`"${name}" exceeds the limit of ${maxRepeatedFields} uses in one selection set.`);
  }
  counts.set(name, count);
}

function tooDeep(): GraphQLError {
  return tooCostly(`The document exceeds the limit of ${maxDepth} levels of nesting.`);
}

/** The error for a document that exceeds a limit. */
export function tooCostly(message: string): GraphQLError {
  const http = { status: errorCatalog.QUERY_TOO_COSTLY.status };
  return new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COSTLY', http } });
}
