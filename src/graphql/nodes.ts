import type { ObjectRef } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { defaultPageSize, maxPageSize } from '../database/list.ts';
import { InvalidInput } from '../errors.ts';
import type { Scope } from '../scopes.ts';
import { builder, decodeNodeId, type GraphQLContext, type SchemaTypes } from './builder.ts';
import { type FieldCost, lookUpCost, type RawVariables } from './limits.ts';

/** How the nodes of a type are found. */
interface NodeType {
  /** The scope that finding one requires. */
  readonly scope: Scope;
  /** What one is called, such as `a user group`. */
  readonly noun: string;
  /** Finds the node with an id, as the caller may see it; undefined if there is none. */
  readonly find: (
    context: GraphQLContext,
    id: string,
    info: GraphQLResolveInfo,
  ) => object | undefined | Promise<object | undefined>;
}

const nodeTypes = new Map<string, NodeType>();

/** Makes the nodes of a type, which `builder.node` has defined, available to the fields `node` and `nodes`. */
export function defineNodeFinder(typename: string, type: NodeType): void {
  nodeTypes.set(typename, type);
}

/** The most nodes that one `nodes` field returns. */
const maxNodes = 100;

/** How many ids `nodes` is given, at most. */
const idCount = ({ ids }: Readonly<Record<string, unknown>>): number => (Array.isArray(ids) ? ids.length : maxNodes);

/** Any of them is enough where no node is named; `admin` always is. */
const scopesOfNodes = () =>
  [...nodeTypes.values()].map(({ scope }) => scope).filter((scope) => scope !== 'admin') as [Scope, ...Scope[]];

/** Each kind of node requires its scope, and so does an ID of none, for which each of them is enough. */
function findNode(context: GraphQLContext, nodeId: string, info: GraphQLResolveInfo) {
  const { typename = '', id = '' } = decodeNodeId(nodeId) ?? {};
  const type = nodeTypes.get(typename);
  const sufficient: readonly [Scope, ...Scope[]] = type ? [type.scope] : scopesOfNodes();
  context.caller.require(...sufficient);
  return type?.find(context, id, info);
}

builder.queryFields((t) => {
  const required = [...nodeTypes.values()].map(({ scope, noun }) => `${scope} for ${noun}`);
  const scopes = `Requires the scope ${new Intl.ListFormat('en-US').format(required)}.`;
  return {
    node: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: `The node with this ID; null if it does not exist or the API token has no access to it. ${scopes}`,
      args: { id: t.arg.id({ required: true, description: 'The ID of the node.' }) },
      resolve: (_, { id }, context, info) => findNode(context, id, info),
    }),
    nodes: t.field({
      type: [builder.nodeInterfaceRef()],
      nullable: { list: false, items: true },
      description: `The nodes with these IDs, in the same order; null for each that does not exist or is not accessible. At most ${maxNodes}. ${scopes}`,
      extensions: { cost: (args) => lookUpCost * idCount(args), listSize: idCount } satisfies FieldCost,
      args: { ids: t.arg.idList({ required: true, description: 'The IDs of the nodes.' }) },
      resolve: (_, { ids }, context, info) => {
        context.caller.require(...scopesOfNodes());
        if (ids.length > maxNodes) throw new InvalidInput([{ path: ['ids'], message: `must have at most ${maxNodes} ids.` }]);
        return Promise.all(ids.map(async (id) => findNode(context, id, info)));
      },
    }),
  };
});

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
