import type { ObjectRef } from '@pothos/core';
import { type CountedPage, defaultPageSize, maxPageSize, type Page } from '../database/list.ts';
import { builder, type SchemaTypes } from './builder.ts';
import type { FieldCost, RawVariables } from './selection.ts';

/** Cursors are made when they are read: most responses have none, or only the last. */
function cursorAt({ nodes, cursorOf }: Page<unknown>, index: number): string | null {
  const node = nodes.at(index);
  return node === undefined ? null : cursorOf(node);
}

const PageInfoType = builder.objectRef<Page<unknown>>('PageInfo').implement({
  description: 'Where a page begins and ends, and whether there are more items.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description:
        'Whether more items follow: pass endCursor as `after` to get them. When paging backwards, whether `before` was given.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description:
        'When paging backwards, whether more items precede: pass startCursor as `before`. Otherwise, whether `after` was given.',
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first item; null if there is none.',
      resolve: (page) => cursorAt(page, 0),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last item; null if there is none.',
      resolve: (page) => cursorAt(page, -1),
    }),
  }),
});

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

/** Counting may take as long as many look-ups. */
const countCost = { cost: () => 300 } satisfies FieldCost;

const isPage = { isPage: true } satisfies FieldCost;

/** Defines the connection and edge types of a node type, with `totalCount`. @param items what the nodes are, in plural. */
export function defineConnection<Node>(name: string, node: ObjectRef<Types, Node>, items: string) {
  const connection = definePages<Node, CountedPage<Node>>(name, node, items);
  builder.objectField(connection, 'totalCount', (t) =>
    t.int({
      nullable: true,
      extensions: countCost,
      description: `The number of all ${items} that the filter matches, on every page; null if counting takes too long. Counted only if it is selected.`,
      resolve: (page) => page.totalCount(),
    }),
  );
  return connection;
}

/** The same without `totalCount`, for lists that are too long to be counted. */
export function definePages<Node, Pages extends Page<Node> = Page<Node>>(
  name: string,
  node: ObjectRef<Types, Node>,
  items: string,
) {
  const EdgeType = builder.objectRef<{ page: Pages; node: Node }>(`${name}Edge`).implement({
    description: 'An item of a page with its cursor.',
    fields: (t) => ({
      cursor: t.string({
        description: 'The position of the item, for `after` and `before`. Opaque; stays valid when the item is deleted.',
        resolve: ({ page, node }) => page.cursorOf(node),
      }),
      node: t.field({ type: node, description: 'The item.', resolve: (edge) => edge.node as never }),
    }),
  });
  return builder.objectRef<Pages>(`${name}Connection`).implement({
    description: `A page of ${items}.`,
    fields: (t) => ({
      edges: t.field({
        type: [EdgeType],
        extensions: isPage,
        description: 'The items of the page with their cursors.',
        resolve: (page) => page.nodes.map((each) => ({ page, node: each })),
      }),
      nodes: t.field({
        type: [node],
        extensions: isPage,
        description: 'The items of the page.',
        resolve: ({ nodes }) => nodes as never,
      }),
      pageInfo: t.field({
        type: PageInfoType,
        description: 'Where the page begins and ends, and whether there are more items.',
        resolve: (page) => page,
      }),
    }),
  });
}

/** The arguments of a field that returns a connection. */
export const pageArguments = builder.args((t) => ({
  first: t.int({
    description: `Returns the first n items: 0 to ${maxPageSize}. Defaults to ${defaultPageSize} without \`last\`.`,
  }),
  after: t.string({ description: 'Returns only items after this cursor: endCursor of the previous page.' }),
  last: t.int({ description: `Returns the last n items: 0 to ${maxPageSize}. Not together with \`first\`.` }),
  before: t.string({ description: 'Returns only items before this cursor: startCursor of the page that follows.' }),
}));

/** How many items a page has at most by its arguments, which may be wrong: then nothing is resolved. */
export function pageSize({ first, last }: RawVariables): number {
  const size = first ?? last ?? defaultPageSize;
  return typeof size === 'number' && size >= 0 && size <= maxPageSize ? size : maxPageSize;
}
