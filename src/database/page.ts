import { createSemaphore } from '../concurrency/fair-queue.ts';
import type { Issue } from '../errors.ts';

/** The most items of one page; more is refused. */
export const maxPageSize = 100;

/** How many items a page has at most when the caller does not say. */
export const defaultPageSize = 20;

/** Which page of a list is asked for, in the terms of the Relay connection specification; null counts as omitted. */
export interface PageInput {
  /** The number of items from the start, 1 to 100. */
  readonly first?: number | null | undefined;
  /** Only items after the one with this cursor. */
  readonly after?: string | null | undefined;
  /** The number of items from the end, 1 to 100; not together with `first`. */
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

/** Where a page begins and ends, and whether there are more. */
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

/** A page of a list whose items can be counted. */
export interface CountedPage<Node, Count extends number | null = number | null> extends Page<Node> {
  /** Counts the items of the whole list, once however often it is called. */
  totalCount(): Promise<Count>;
}

/** The same page, with a way to count the list. */
export function withTotalCount<Node, Count extends number | null>(
  page: Page<Node>,
  countAll: () => Promise<Count>,
): CountedPage<Node, Count> {
  let count: Promise<Count> | undefined;
  return Object.assign(page, {
    totalCount() {
      count ??= countAll();
      return count;
    },
  });
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

/**
 * Bounds the statements of pages that are in progress at once, so that connections remain for other requests, and how many wait.
 * One request may have many. Pages of user groups without JSON, which share statements, have their own.
 */
export const pageReads = createSemaphore(4, 2_000, 'pages of lists');

/** The section of a list that a page is read from. */
export interface PageSection {
  readonly size: number;
  /** Whether it is read from the end. */
  readonly isBackward: boolean;
  /** The position that a cursor has; undefined without one. */
  readonly after: unknown;
  readonly before: unknown;
}

/** The items that were read for a page, and what they become. */
export interface FoundItems<Item, Node> {
  /** In the order in which they were read; one more than the size, if there are more. */
  readonly found: readonly Item[];
  /** Makes the cursor of an item. Called when the cursor is read: most responses have none, or only the last. */
  readonly cursorOf: (item: Item) => string;
  /** The node of an item; undefined to leave the item out, in which case paging still continues after it. */
  readonly nodeOf: (item: Item) => Node | undefined;
}

/** Makes a page of the items that were read for it. Spreading the page would make its cursors. */
export function cutPage<Item, Node>(
  { found, cursorOf, nodeOf }: FoundItems<Item, Node>,
  { size, isBackward, after, before }: PageSection,
): Page<Node> {
  const items = found.slice(0, size);
  if (isBackward) items.reverse();
  const hasMore = found.length > size;
  const edges: Edge<Node>[] = [];
  for (const item of items) {
    const node = nodeOf(item);
    if (node !== undefined) edges.push(new ItemEdge(node, item, cursorOf));
  }
  const cursorAt = (index: number): string | null => {
    const item = items.at(index);
    return item === undefined ? null : cursorOf(item);
  };
  return {
    edges,
    hasNextPage: isBackward ? before !== undefined : hasMore,
    hasPreviousPage: isBackward ? hasMore : after !== undefined,
    get startCursor() {
      return cursorAt(0);
    },
    get endCursor() {
      return cursorAt(-1);
    },
  };
}

class ItemEdge<Node, Item> implements Edge<Node> {
  readonly node: Node;
  private readonly item: Item;
  private readonly cursorOf: (item: Item) => string;

  constructor(node: Node, item: Item, cursorOf: (item: Item) => string) {
    this.node = node;
    this.item = item;
    this.cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.cursorOf(this.item);
  }
}
