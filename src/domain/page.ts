import type { Issue } from './errors.ts';

/** The most items of one page; more is refused. */
export const maxPageSize = 100;

/** How many items a page has at most when the caller does not say. */
export const defaultPageSize = 20;

/** Which page of a list is asked for, in the terms of the Relay connection specification; null counts as omitted. */
export interface PageInput {
  /** The first so many items, 1 to 100. */
  readonly first?: number | null | undefined;
  /** Only items after the one with this cursor. */
  readonly after?: string | null | undefined;
  /** The last so many items, 1 to 100; not together with `first`. */
  readonly last?: number | null | undefined;
  /** Only items before the one with this cursor. */
  readonly before?: string | null | undefined;
}

/** An item of a page. */
export interface Edge<Node> {
  /** The position of the item; stays valid when the item is deleted. */
  readonly cursor: string;
  readonly node: Node;
}

/** Where a page begins and ends, and what is beside it. */
export interface PageInfo {
  /** Whether there are more items in the direction of paging; in the other direction, whether there was a cursor to begin at. */
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Null when the page is empty. */
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** A page of a list, in the order of the list whatever the direction of paging is. */
export interface Page<Node> extends PageInfo {
  readonly edges: readonly Edge<Node>[];
}

/** The issues of the size of a page. */
export function* pageSizeIssues({ first, last }: PageInput): Generator<Issue> {
  for (const [name, size] of [
    ['first', first],
    ['last', last],
  ] as const) {
    if (size != null && !(Number.isInteger(size) && size >= 1 && size <= maxPageSize)) {
      yield { path: [name], message: `must be a whole number from 1 to ${maxPageSize}.` };
    }
  }
  if (first != null && last != null) yield { path: ['last'], message: 'must not be combined with first.' };
}

/** How many items a page has at most, and whether it is read from the end. */
export function pageSizeOf({ first, last }: PageInput): { size: number; isBackward: boolean } {
  return { size: last ?? first ?? defaultPageSize, isBackward: last != null };
}

/** The section of a list that a page is read from. */
export interface PageSection {
  readonly size: number;
  /** Whether it is read from the end. */
  readonly isBackward: boolean;
  /** The position that a cursor has; undefined without one. */
  readonly after: unknown;
  readonly before: unknown;
}

/**
 * Makes a page of the items that were read for it.
 *
 * @param found the items in the order in which they were read; one more than the size, if there are more.
 */
export function cutPage<Item>(
  found: readonly Item[],
  { size, isBackward, after, before }: PageSection,
  cursorOf: (item: Item) => string,
): { readonly edges: readonly Edge<Item>[]; readonly info: PageInfo } {
  const items = found.slice(0, size);
  if (isBackward) items.reverse();
  const edges = items.map((node) => ({ node, cursor: cursorOf(node) }));
  const hasMore = found.length > size;
  const info = {
    hasNextPage: isBackward ? before !== undefined : hasMore,
    hasPreviousPage: isBackward ? hasMore : after !== undefined,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { edges, info };
}
