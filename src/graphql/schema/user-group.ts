import { decodeGlobalID } from '@pothos/plugin-relay';
import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import { InvalidInput, NotFound } from '../../domain/errors.ts';
import type { DataSourceMapping } from '../../domain/limits.ts';
import { currentTokenOf, findUserGroup, type ReadOptions, type UserGroupBy } from '../../domain/user-groups.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { type FieldCost, lookUpCost } from './field-cost.ts';
import { isAnySelected } from './selected-fields.ts';

/** The most nodes that one `nodes` field returns. */
const maxNodes = 100;

const DataSourceMappingType = builder.objectRef<DataSourceMapping>('DataSourceMapping').implement({
  description: 'Maps a schema to its data source.',
  fields: (t) => ({
    schemaId: t.exposeString('schemaId', { description: 'The ID of the schema.' }),
    dataSource: t.exposeString('dataSource', { description: 'The data source: its ID, or the identifier that you gave it.' }),
  }),
});

/** The member of a field's extensions that says that its resolver reads properties or mapping. */
const readsJsonExtension = 'readsJson';

/** Up to some hundred KiB, which are parsed for each request. */
const largeField = { cost: () => 100, [readsJsonExtension]: true } satisfies FieldCost & Record<string, unknown>;

/** A user group. */
export const UserGroupType = builder.objectRef<UserGroup>('UserGroup');

builder.node(UserGroupType, {
  description: 'A group of end users who view embedded dashboards.',
  id: { resolve: ({ teamId }) => String(teamId), description: 'The globally unique ID of the group.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'teamId' in value,
  fields: (t) => ({
    teamId: t.exposeInt('teamId', { description: 'The number that the gateway assigned to the group.' }),
    providedId: t.exposeString('providedId', {
      description: 'Your own identifier for the group, unique within its environment.',
    }),
    name: t.exposeString('name', { description: 'The display name.' }),
    token: t.string({
      description:
        'The current user group token: identifies the group when a dashboard is rendered. Not a credential for this API. ' +
        'Requires the scope groups:read or groups:write; with groups:resolve alone it is FORBIDDEN, so that a token in its ' +
        'grace period does not reveal its replacement.',
      resolve: (group, _, { db, caller }) => currentTokenOf(db, caller, group),
    }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment of the group; null means untagged.',
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
      description: 'The data source of each schema.',
      resolve: ({ mapping }) =>
        Object.entries(mapping as Record<string, string>).map(([schemaId, dataSource]) => ({ schemaId, dataSource })),
    }),
    dataSource: t.string({
      nullable: true,
      extensions: largeField,
      description: 'The data source of one schema: the entry of `mapping` with this schema ID; null if there is none.',
      args: { schemaId: t.arg.string({ required: true, description: 'The ID of the schema.' }) },
      resolve: ({ mapping }, { schemaId }) =>
        Object.hasOwn(mapping as object, schemaId) ? (mapping as Record<string, string>)[schemaId] : undefined,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the group was created.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When the group was last changed, including token rotation.',
    }),
  }),
});

/** The selector of one user group. */
export const UserGroupByInput = builder.inputType('UserGroupBy', {
  description: 'Selects one user group.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'The globally unique ID.' }),
    teamId: t.int({ description: 'The number that the gateway assigned.' }),
    providedId: t.string({
      description: 'Your own identifier. With scope `admin`, a group in the environment of the API token takes precedence.',
    }),
    token: t.string({ description: 'A user group token: the current one, or one in its grace period.' }),
  }),
});

/** Whether properties or mapping of a user group are read below a field, so that they need be loaded. */
export function readsJson(info: Pick<GraphQLResolveInfo, 'schema' | 'fieldNodes' | 'fragments'>): boolean {
  const fields = Object.values((info.schema.getType('UserGroup') as GraphQLObjectType).getFields());
  const names = fields.filter(({ extensions }) => extensions[readsJsonExtension]).map(({ name }) => name);
  return isAnySelected(new Set(names), info);
}

type ByInput = typeof UserGroupByInput.$inferInput;

/** Converts the input to the domain's selector; `undefined` for an id that cannot be a group's. */
function selector({ id, teamId, providedId, token }: ByInput): UserGroupBy | undefined {
  if (id != null) return teamIdOf(id);
  if (teamId != null) return { teamId };
  if (providedId != null) return { providedId };
  return token != null ? { token } : undefined;
}

/** Converts the input to the domain's selector. @throws NotFound for an id that cannot be a group's. */
export function requireSelector(by: ByInput): UserGroupBy {
  const meant = selector(by);
  if (!meant) throw new NotFound('No such user group: the id is not the ID of a user group.');
  return meant;
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
    return undefined; // not the id of a group
  }
}

/** How many ids `nodes` was given; one that is not in a list counts as a list of one. */
const idCount = ({ ids }: Readonly<Record<string, unknown>>): number => (Array.isArray(ids) ? ids.length : 1);

async function findNode({ db, caller }: GraphQLContext, nodeId: string, options: ReadOptions): Promise<UserGroup | undefined> {
  caller.require('groups:read');
  const by = teamIdOf(nodeId);
  return by && findUserGroup(db, caller, by, options);
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description:
      'The node with this ID; null if it does not exist or the API token has no access to it. Requires the scope groups:read.',
    args: { id: t.arg.id({ required: true, description: 'The ID of the node.' }) },
    resolve: (_, { id }, context, info) => findNode(context, id, { withJson: readsJson(info) }),
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `The nodes with these IDs, in the same order; null for each that does not exist or is not accessible. At most ${maxNodes}. Requires the scope groups:read.`,
    extensions: { cost: (args) => lookUpCost * idCount(args), listSize: idCount } satisfies FieldCost,
    args: { ids: t.arg.idList({ required: true, description: 'The IDs of the nodes.' }) },
    resolve: (_, { ids }, context, info) => {
      context.caller.require('groups:read');
      if (ids.length > maxNodes) throw new InvalidInput([{ path: ['ids'], message: `must have at most ${maxNodes} ids.` }]);
      const options = { withJson: readsJson(info) };
      return Promise.all(ids.map((id) => findNode(context, id, options)));
    },
  }),
  userGroup: t.field({
    type: UserGroupType,
    nullable: true,
    description:
      'One user group; null if it does not exist or the API token has no access to it. The token selector resolves which user ' +
      'group is viewing a dashboard and requires the scope groups:resolve, which groups:read includes; every other selector ' +
      'requires groups:read.',
    args: { by: t.arg({ type: UserGroupByInput, required: true, description: 'Selects the group.' }) },
    resolve: (_, { by }, { db, caller }) => {
      const meant = selector(by);
      if (meant) return findUserGroup(db, caller, meant);
      caller.require('groups:read'); // the id of a node that is no group
      return undefined;
    },
  }),
}));
