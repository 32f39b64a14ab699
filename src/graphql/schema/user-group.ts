import { decodeGlobalID } from '@pothos/plugin-relay';
import { InvalidInput } from '../../domain/errors.ts';
import type { DataSourceMapping } from '../../domain/limits.ts';
import { currentTokenOf, findUserGroup, type UserGroupBy } from '../../domain/user-groups.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { type FieldCost, lookUpCost } from './field-cost.ts';

/** How many nodes may be asked for at once. */
const maxNodes = 100;

const DataSourceMappingType = builder.objectRef<DataSourceMapping>('DataSourceMapping').implement({
  description: 'Where the data of one schema comes from.',
  fields: (t) => ({
    schemaId: t.exposeString('schemaId', { description: 'The schema.' }),
    dataSource: t.exposeString('dataSource', { description: 'Its data source: the id, or the id that the caller gave it.' }),
  }),
});

/** Up to some hundred KiB, which are parsed for each request. */
const largeField = { cost: () => 100 } satisfies FieldCost;

/** A user group. */
export const UserGroupType = builder.objectRef<UserGroup>('UserGroup');

builder.node(UserGroupType, {
  description: 'An identified set of end users that views embedded dashboards.',
  id: { resolve: ({ teamId }) => String(teamId), description: 'Identifies the group among all nodes.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'teamId' in value,
  fields: (t) => ({
    teamId: t.exposeInt('teamId', { description: 'The internal number of the group.' }),
    providedId: t.exposeString('providedId', { description: 'The caller’s own identifier, unique within the environment.' }),
    name: t.exposeString('name', { description: 'The display name.' }),
    token: t.string({
      description:
        'The current user group token: identifies the group when a dashboard is rendered. Never a credential of this API. ' +
        'Needs the scope groups:read or groups:write: with groups:resolve alone it is FORBIDDEN, because a token in its grace ' +
        'period would give away the one that replaced it.',
      resolve: (group, _, { caller }) => currentTokenOf(caller, group),
    }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment that the group belongs to; null means untagged.',
    }),
    properties: t.expose('properties', {
      type: 'JSON',
      extensions: largeField,
      nullable: true,
      description: 'A JSON object, available as variables in dashboards and the SQL editor.',
    }),
    mapping: t.field({
      type: [DataSourceMappingType],
      extensions: largeField,
      description: 'Which data source each schema takes its data from.',
      resolve: ({ mapping }) =>
        Object.entries(mapping as Record<string, string>).map(([schemaId, dataSource]) => ({ schemaId, dataSource })),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the group was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the group last changed, token rotation included.' }),
  }),
});

/** One way of saying which group is meant. */
export const UserGroupByInput = builder.inputType('UserGroupBy', {
  description: 'One way of saying which group is meant.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'The id among all nodes.' }),
    teamId: t.int({ description: 'The internal number.' }),
    providedId: t.string({ description: 'The caller’s own identifier. With scope `admin`, the own environment goes first.' }),
    token: t.string({ description: 'A user group token: the current one, or one in its grace period.' }),
  }),
});

type ByInput = typeof UserGroupByInput.$inferInput;

/** The domain's selector; none for an id that cannot be a group's. */
export function selector({ id, teamId, providedId, token }: ByInput): UserGroupBy | undefined {
  if (id != null) return teamIdOf(id);
  if (teamId != null) return { teamId };
  if (providedId != null) return { providedId };
  return token != null ? { token } : undefined;
}

/** Longer than any id of a group, so that a text of a megabyte is not decoded. */
const maxNodeIdLength = 64;

function teamIdOf(nodeId: string): { teamId: number } | undefined {
  if (nodeId.length > maxNodeIdLength) return undefined;
  try {
    const { typename, id } = decodeGlobalID(nodeId);
    const teamId = Number(id);
    return typename === 'UserGroup' && /^\d{1,10}$/.test(id) && teamId < 2 ** 31 ? { teamId } : undefined;
  } catch {
    return undefined; // nobody's id
  }
}

/** How many ids `nodes` was given; one that is not in a list counts as a list of one. */
const idCount = ({ ids }: Readonly<Record<string, unknown>>): number => (Array.isArray(ids) ? ids.length : 1);

async function findNode({ db, caller }: GraphQLContext, nodeId: string): Promise<UserGroup | undefined> {
  caller.require('groups:read');
  const by = teamIdOf(nodeId);
  return by && findUserGroup(db, caller, by);
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'The node with an id; null if there is none that the API token may see. Needs the scope groups:read.',
    args: { id: t.arg.id({ required: true, description: 'The id of a node.' }) },
    resolve: (_, { id }, context) => findNode(context, id),
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `The nodes with these ids, in their order, null for each that is not there. At most ${maxNodes}. Needs the scope groups:read.`,
    extensions: { cost: (args) => lookUpCost * idCount(args), listSize: idCount } satisfies FieldCost,
    args: { ids: t.arg.idList({ required: true, description: 'The ids of the nodes.' }) },
    resolve: (_, { ids }, context) => {
      context.caller.require('groups:read');
      if (ids.length > maxNodes) throw new InvalidInput([{ path: ['ids'], message: `must hold at most ${maxNodes} ids.` }]);
      return Promise.all(ids.map((id) => findNode(context, id)));
    },
  }),
  userGroup: t.field({
    type: UserGroupType,
    nullable: true,
    description:
      'One user group; null if there is none that the API token may see. By token, it says who views a dashboard: that needs ' +
      'the scope groups:resolve, which groups:read includes. Every other selector needs groups:read.',
    args: { by: t.arg({ type: UserGroupByInput, required: true, description: 'Which group is meant.' }) },
    resolve: (_, { by }, { db, caller }) => {
      const meant = selector(by);
      if (meant) return findUserGroup(db, caller, meant);
      caller.require('groups:read'); // the id of a node that is no group
      return undefined;
    },
  }),
}));
