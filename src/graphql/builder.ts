import SchemaBuilder from '@pothos/core';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin, { decodeGlobalID } from '@pothos/plugin-relay';
import type { Context } from '../app.ts';
import { Forbidden, InvalidInput, Unauthenticated } from '../errors.ts';
import type { HttpRequest } from '../http/types.ts';
import type { Json } from '../input.ts';
import type { FieldCost } from './limits.ts';

/** The types that every part of the schema builds on. */
export interface SchemaTypes {
  Context: GraphQLContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    JSON: { Input: Json; Output: unknown };
    DateTime: { Input: Date; Output: Date };
    ID: { Input: string; Output: string };
  };
}

const isPage = { isPage: true } satisfies FieldCost;

/** Where the schema's parts define themselves. */
export const builder = new SchemaBuilder<SchemaTypes>({
  // The errors plugin comes first, so that a missing credential becomes a result too.
  plugins: [ErrorsPlugin, RelayPlugin],
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    defaultTypes: [Unauthenticated, Forbidden, InvalidInput],
    defaultUnionOptions: { name: ({ fieldName }) => `${fieldName.charAt(0).toUpperCase()}${fieldName.slice(1)}Result` },
  },
  // `node` and `nodes` are fields like others here, closed by default.
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { description: 'An object with a globally unique ID.' },
    idFieldOptions: { description: 'The globally unique ID.' },
    mutationInputArgOptions: { description: 'The parameters of the mutation.' },
    edgesFieldOptions: { description: 'The items of the page with their cursors.', extensions: isPage },
    nodesOnConnection: { description: 'The items of the page.', extensions: isPage },
    nodeFieldOptions: { description: 'The item.' },
    cursorFieldOptions: {
      description: 'The position of the item, for `after` and `before`. Opaque; stays valid when the item is deleted.',
    },
    pageInfoFieldOptions: { description: 'Where the page begins and ends, and whether there are more items.' },
    pageInfoTypeOptions: { description: 'Where a page begins and ends, and whether there are more items.' },
    hasNextPageFieldOptions: {
      description:
        'Whether more items follow: pass endCursor as `after` to get them. When paging backwards, whether `before` was given.',
    },
    hasPreviousPageFieldOptions: {
      description:
        'When paging backwards, whether more items precede: pass startCursor as `before`. Otherwise, whether `after` was given.',
    },
    startCursorFieldOptions: { description: 'The cursor of the first item; null if there is none.' },
    endCursorFieldOptions: { description: 'The cursor of the last item; null if there is none.' },
  },
});

builder.queryType({ description: 'Root of all read operations.' });
builder.mutationType({
  description: 'Root of all write operations. Each returns a payload or one of the expected errors.',
});

/**
 * Defines an enum of names that are not GraphQL names, such as `groups:read`, which is `GROUPS_READ` in GraphQL and itself
 * everywhere else: in commands, in REST and in the database.
 *
 * @param typeName the name of the enum.
 * @param description what its values are.
 * @param names every name; resolvers get and return these.
 * @param describe what a name means, in one sentence without its period.
 */
export function defineNamedEnum<Name extends string>(
  typeName: string,
  description: string,
  names: readonly Name[],
  describe: (name: Name) => string,
) {
  const values = names.map((name) => [constantCase(name), { value: name, description: `\`${name}\`: ${describe(name)}.` }]);
  return builder.enumType(typeName, { description, values: Object.fromEntries(values) as Record<string, { value: Name }> });
}

const constantCase = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z]/g, '_');

/** Longer than any id of a node, so that a text of a megabyte is not decoded. */
const maxNodeIdLength = 64;

/** The number of a row that an id names: 1 to 2,147,483,647; for any other text 0, which no row has. */
export function readNumber(id: string): number {
  const number = Number(id);
  return /^[1-9]\d{0,9}$/.test(id) && number < 2 ** 31 ? number : 0;
}

/** The number that the globally unique ID of a node of this type holds; 0 when it is not the ID of one. */
export function numberOfNode(typename: string, nodeId: string): number {
  const node = decodeNodeId(nodeId);
  return node?.typename === typename ? readNumber(node.id) : 0;
}

/** The type and the id that a globally unique ID holds; undefined for a text that is none. */
export function decodeNodeId(nodeId: string): { readonly typename: string; readonly id: string } | undefined {
  if (nodeId.length > maxNodeIdLength) return undefined;
  try {
    return decodeGlobalID(nodeId);
  } catch {
    return undefined;
  }
}

/** The context of the resolvers; one object per request. */
export interface GraphQLContext extends Context {
  readonly http: HttpRequest;
  /** Set when a mutation returns an expected error: it changed nothing. */
  outcome?: 'refused';
}
