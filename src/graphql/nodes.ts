import type { GraphQLResolveInfo } from 'graphql';
import { InvalidInput } from '../errors.ts';
import type { Scope } from '../scopes.ts';
import { builder, decodeNodeId } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { type FieldCost, lookUpCost } from './selection.ts';

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
