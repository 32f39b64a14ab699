import type { ObjectRef } from '@pothos/core';
import { defaultPageSize, maxPageSize } from '../database/list.ts';
import { builder, type SchemaTypes } from './builder.ts';
import type { FieldCost, RawVariables } from './selection.ts';

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

/** Counting may take as long as many look-ups. */
const countCost = { cost: () => 300 } satisfies FieldCost;

/** Defines the connection and edge types of a node type, with `totalCount`. @param items what the nodes are, in plural. */
export function defineConnection<Node>(name: string, node: ObjectRef<Types, Node>, items: string) {
  const connection = definePages(name, node, items);
  builder.objectField(connection, 'totalCount', (t) =>
    t.int({
      nullable: true,
      extensions: countCost,
      description: `The number of all ${items} that the filter matches, on every page; null if counting takes too long. Counted only if it is selected.`,
      resolve: (page) => (page as unknown as { totalCount(): Promise<number | null> }).totalCount(),
    }),
  );
  return connection;
}

/** The same without `totalCount`, for lists that are too long to be counted. */
export const definePages = <Node>(name: string, node: ObjectRef<Types, Node>, items: string) =>
  builder.connectionObject(
    { type: node, name: `${name}Connection`, description: `A page of ${items}.` },
    { name: `${name}Edge`, description: 'An item of a page with its cursor.' },
  );

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
