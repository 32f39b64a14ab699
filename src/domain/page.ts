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

/** A page of a list, in the order of the list whatever the direction of paging is. */
export interface Page<Node> {
  readonly edges: readonly Edge<Node>[];
  /** Whether there are more items in the direction of paging; in the other direction, whether there was a cursor to begin at. */
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Where the page begins and ends; null when it is empty. */
  readonly startCursor: string | null;
  readonly endCursor: string | null;
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
