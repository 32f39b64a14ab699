import { decodeGlobalID } from '@pothos/plugin-relay';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.ts';
import type { DataSourceMapping } from '../domain/limits.ts';
import {
  findUserGroup,
  getOrCreateUserGroup,
  rotateUserGroupToken,
  type UserGroupBy,
  updateUserGroup,
} from '../domain/user-groups.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { builder } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { EnvironmentTagType } from './environment-tag.ts';

/** How many nodes may be asked for at once. */
const maxNodes = 100;

const DataSourceMappingType = builder.objectRef<DataSourceMapping>('DataSourceMapping').implement({
  description: 'Where the data of one schema comes from.',
  fields: (t) => ({
    schemaId: t.exposeString('schemaId', { description: 'The schema.' }),
    dataSource: t.exposeString('dataSource', { description: 'Its data source: the id, or the id that the caller gave it.' }),
  }),
});

const UserGroupType = builder.objectRef<UserGroup>('UserGroup');

builder.node(UserGroupType, {
  description: 'An identified set of end users that views embedded dashboards.',
  id: { resolve: ({ teamId }) => String(teamId), description: 'Identifies the group among all nodes.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'teamId' in value,
  fields: (t) => ({
    teamId: t.exposeInt('teamId', { description: 'The internal number of the group.' }),
    providedId: t.exposeString('providedId', { description: 'The caller’s own identifier, unique within the environment.' }),
    name: t.exposeString('name', { description: 'The display name.' }),
    token: t.exposeString('token', {
      description:
        'The current user group token: identifies the group when a dashboard is rendered. Never a credential of this API.',
    }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment that the group belongs to; null means untagged.',
    }),
    properties: t.expose('properties', {
      type: 'JSON',
      nullable: true,
      description: 'A JSON object, available as variables in dashboards and the SQL editor.',
    }),
    mapping: t.field({
      type: [DataSourceMappingType],
      description: 'Which data source each schema takes its data from.',
      resolve: ({ mapping }) =>
        Object.entries(mapping as Record<string, string>).map(([schemaId, dataSource]) => ({ schemaId, dataSource })),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the group was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the group last changed, token rotation included.' }),
  }),
});

const UserGroupByInput = builder.inputType('UserGroupBy', {
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
function selector({ id, teamId, providedId, token }: ByInput): UserGroupBy | undefined {
  if (id != null) return teamIdOf(id);
  if (teamId != null) return { teamId };
  if (providedId != null) return { providedId };
  return token != null ? { token } : undefined;
}

function teamIdOf(nodeId: string): { teamId: number } | undefined {
  try {
    const { typename, id } = decodeGlobalID(nodeId);
    const teamId = Number(id);
    return typename === 'UserGroup' && /^\d{1,10}$/.test(id) && teamId < 2 ** 31 ? { teamId } : undefined;
  } catch {
    return undefined; // nobody's id
  }
}

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
      'The group that is meant; null if there is none that the API token may see. By token, it tells who views a dashboard. Needs the scope groups:read.',
    args: { by: t.arg({ type: UserGroupByInput, required: true, description: 'Which group is meant.' }) },
    resolve: (_, { by }, { db, caller }) => {
      caller.require('groups:read');
      const meant = selector(by);
      return meant && findUserGroup(db, caller, meant);
    },
  }),
}));

const DataSourceMappingInput = builder.inputType('DataSourceMappingInput', {
  description: 'Where the data of one schema comes from.',
  fields: (t) => ({
    schemaId: t.string({ required: true, description: 'The schema; at most 255 characters, and each schema once.' }),
    dataSource: t.string({
      required: true,
      description: 'Its data source: the id, or the id that you gave it; at most 255 characters.',
    }),
  }),
});

const GetOrCreateUserGroupPayload = builder
  .objectRef<{ userGroup: UserGroup; created: boolean }>('GetOrCreateUserGroupPayload')
  .implement({
    description: 'The group, and whether this call created it.',
    fields: (t) => ({
      userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group as it is stored.' }),
      created: t.exposeBoolean('created', { description: 'Whether this call created it. Of concurrent calls, one did.' }),
    }),
  });

builder.mutationField('getOrCreateUserGroup', (t) =>
  t.field({
    type: GetOrCreateUserGroupPayload,
    nullable: true,
    errors: { types: [Conflict], union: { description: 'The group, or why there is none.' } },
    description:
      'Returns the group with this id, and creates it if there is none. Never changes a group that exists. Needs the scope groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'The id, and what a new group starts with.',
        type: builder.inputType('GetOrCreateUserGroupInput', {
          description: 'The id, and what a new group starts with. The API token decides its environment.',
          fields: (field) => ({
            providedId: field.string({ required: true, description: 'Your own identifier of the group: 1 to 255 characters.' }),
            name: field.string({ description: 'The display name: 1 to 255 characters. Left out, it is the id.' }),
            mapping: field.field({ type: [DataSourceMappingInput], description: 'Data sources of schemas: at most 1,000.' }),
            properties: field.field({ type: 'JSON', description: 'A JSON object of at most 64 KiB and 32 levels.' }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, { db, caller }) => getOrCreateUserGroup(db, caller, input),
  }),
);

const UpdateUserGroupPayload = builder.objectRef<{ userGroup: UserGroup }>('UpdateUserGroupPayload').implement({
  description: 'The group after the change.',
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group as it is stored now.' }) }),
});

builder.mutationField('updateUserGroup', (t) =>
  t.field({
    type: UpdateUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The changed group, or why nothing was changed.' } },
    description: 'Changes the fields that are given and leaves the others. Needs the scope groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'Which group, and its new values.',
        type: builder.inputType('UpdateUserGroupInput', {
          description: 'Which group, and its new values. What is left out stays.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Which group is meant.' }),
            name: field.string({ description: 'The display name: 1 to 255 characters.' }),
            mapping: field.field({
              type: [DataSourceMappingInput],
              description: 'Replaces the whole mapping: at most 1,000 entries.',
            }),
            properties: field.field({ type: 'JSON', description: 'Replaces all properties; null clears them.' }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { by, ...change } }, { db, caller }) => {
      caller.require('groups:write');
      const meant = selector(by);
      if (!meant) throw new NotFound('There is no such user group: the id is not that of a user group.');
      return { userGroup: await updateUserGroup(db, caller, meant, change) };
    },
  }),
);

const RotateUserGroupTokenPayload = builder
  .objectRef<{ userGroup: UserGroup; previousTokenExpiresAt: Date | null }>('RotateUserGroupTokenPayload')
  .implement({
    description: 'The group with its new token.',
    fields: (t) => ({
      userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group, with the new token.' }),
      previousTokenExpiresAt: t.expose('previousTokenExpiresAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When the token that was replaced stops; null if it has stopped.',
      }),
    }),
  });

builder.mutationField('rotateUserGroupToken', (t) =>
  t.field({
    type: RotateUserGroupTokenPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The group with its new token, or why it has none.' } },
    description:
      'Puts a new token in the place of the current one. Of concurrent rotations of one token exactly one succeeds. Needs the scope groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'The token to replace.',
        type: builder.inputType('RotateUserGroupTokenInput', {
          description: 'The token to replace, and how long it may go on.',
          fields: (field) => ({
            currentToken: field.string({ required: true, description: 'The group’s current token.' }),
            graceSeconds: field.int({
              description:
                'How long the old token goes on identifying the group, in seconds: 0 to 604800. Left out, it stops at once.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, { db, caller }) => rotateUserGroupToken(db, caller, input),
  }),
);
