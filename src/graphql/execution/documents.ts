import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  Lexer,
  parse,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  Source,
  TokenKind,
  TypeMetaFieldDef,
  valueFromASTUntyped,
} from 'graphql';
import { errorCatalog } from '../../error-catalog.ts';
import { graphqlLimits } from '../limits.ts';
import type { RawVariables } from '../selection.ts';

const { maxDocumentCharacters, maxDocumentLines, maxNesting, maxTokens } = graphqlLimits;
const { maxDepth, maxFragmentSpreads, maxNameLength, maxRepeatedFields } = graphqlLimits;

/**
 * Parses a document within the limits, which are checked before the work that they bound.
 *
 * @throws GraphQLError when the syntax is wrong, or with `QUERY_TOO_COSTLY` when the document exceeds a limit.
 */
export function parseDocument(text: string): DocumentNode {
  if (text.length > maxDocumentCharacters) {
    throw tooCostly(`The document exceeds the limit of ${maxDocumentCharacters} characters. Send long values as variables.`);
  }
  const breaks = text.match(/[\r\n]/g)?.length ?? 0;
  if (breaks >= maxDocumentLines) throw tooCostly(`The document exceeds the limit of ${maxDocumentLines} lines.`);
  const source = new Source(text);
  assertTokens(source);
  const document = parse(source);
  assertDocumentLimits(document);
  return document;
}

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.PAREN_L, TokenKind.BRACKET_L, TokenKind.BRACE_L]);
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.PAREN_R, TokenKind.BRACKET_R, TokenKind.BRACE_R]);

/** Checks the number of tokens, and how deep their brackets are nested: the parser would overflow the stack. */
function assertTokens(source: Source): void {
  const lexer = new Lexer(source);
  let depth = 0;
  for (let count = 1; lexer.advance().kind !== TokenKind.EOF; count += 1) {
    const { kind } = lexer.token;
    if (count > maxTokens) throw tooCostly(`The document exceeds the limit of ${maxTokens} tokens. Request fewer fields.`);
    if (opening.has(kind)) depth += 1;
    else if (closing.has(kind)) depth -= 1;
    if (depth > maxNesting) throw tooCostly(`The document exceeds the limit of ${maxNesting} levels of nesting.`);
  }
}

/**
 * Checks the structure of a parsed document, so that validation, whose time grows faster than the document, is bounded.
 * Fragments that contain themselves are left to validation.
 *
 * @throws GraphQLError when the document is nested too deep, repeats a field too often, spreads too many fragments, or has a
 *   response name that is too long.
 */
function assertDocumentLimits(document: DocumentNode): void {
  const fragments = fragmentsOf(document);
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
function tooCostly(message: string): GraphQLError {
  const http = { status: errorCatalog.QUERY_TOO_COSTLY.status };
  return new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COSTLY', http } });
}

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

/** The fragments of a document by their names. */
export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}
