import { apiTokenNumberOf } from './api-tokens/graphql.ts';
import { findApiToken } from './api-tokens/management.ts';
import { type EventReadOptions, findEvent } from './audit-log/events.ts';
import { readsChanges } from './audit-log/graphql.ts';
import './docs-config/graphql.ts';
import './embed-tokens/graphql.ts';
import { InvalidInput } from './errors.ts';
import type { ApiToken, Event, UserGroup } from './generated/prisma/client.ts';
import { builder, decodeNodeId } from './graphql/builder.ts';
import type { GraphQLContext } from './graphql/context.ts';
import './graphql/errors.ts';
import './graphql/scalars.ts';
import { type FieldCost, lookUpCost } from './graphql/selection.ts';
import './instance/graphql.ts';
import './user-groups/graphql/change.ts';
import './user-groups/graphql/get-or-create.ts';
import './user-groups/graphql/list.ts';
import { type GraphQLResolveInfo, lexicographicSortSchema, printSchema } from 'graphql';
import { readsJson, readTeamId } from './user-groups/graphql/type.ts';
import { findUserGroup, type ReadOptions } from './user-groups/user-groups.ts';

/** The most nodes that one `nodes` field returns. */
const maxNodes = 100;

/** How many ids `nodes` was given; one that is not in a list counts as a list of one. */
const idCount = ({ ids }: Readonly<Record<string, unknown>>): number => (Array.isArray(ids) ? ids.length : 1);

/** Each kind of node requires its scope, and so does an ID of none, for which each of them is enough. */
async function findNode(
  { services, caller }: GraphQLContext,
  nodeId: string,
  options: ReadOptions & EventReadOptions,
): Promise<UserGroup | Event | Omit<ApiToken, 'secretHash'> | undefined> {
  const { typename, id = '' } = decodeNodeId(nodeId) ?? {};
  if (typename === 'Event') return findEvent(services, caller, id, options);
  if (typename === 'ApiToken') {
    caller.require('admin');
    const number = apiTokenNumberOf(nodeId);
    return number === undefined ? undefined : findApiToken(services, caller, number);
  }
  if (typename !== 'UserGroup') {
    caller.require('groups:read', 'audit:read');
    return undefined;
  }
  caller.require('groups:read');
  const by = readTeamId(id);
  return by && findUserGroup(services, caller, by, options);
}

const optionsOf = (info: GraphQLResolveInfo) => ({ withJson: readsJson(info), withChanges: readsChanges(info) });

const scopes = 'Requires the scope groups:read for a user group, audit:read for an event, and admin for an API token.';

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: `The node with this ID; null if it does not exist or the API token has no access to it. ${scopes}`,
    args: { id: t.arg.id({ required: true, description: 'The ID of the node.' }) },
    resolve: (_, { id }, context, info) => findNode(context, id, optionsOf(info)),
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `The nodes with these IDs, in the same order; null for each that does not exist or is not accessible. At most ${maxNodes}. ${scopes}`,
    extensions: { cost: (args) => lookUpCost * idCount(args), listSize: idCount } satisfies FieldCost,
    args: { ids: t.arg.idList({ required: true, description: 'The IDs of the nodes.' }) },
    resolve: (_, { ids }, context, info) => {
      context.caller.require('groups:read', 'audit:read');
      if (ids.length > maxNodes) throw new InvalidInput([{ path: ['ids'], message: `must have at most ${maxNodes} ids.` }]);
      const options = optionsOf(info);
      return Promise.all(ids.map((id) => findNode(context, id, options)));
    },
  }),
}));

/** The schema as its definition language, sorted by name, as `schema.graphql` has it. */
export const printSdl = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`;

/** The whole schema. Its text is committed as `schema.graphql`. */
export const schema = builder.toSchema();
