import type { InputFieldRef } from '@pothos/core';
import { VersionMismatch } from '../../errors.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder, numberOfNode, readNumber } from '../../graphql/builder.ts';
import { ErrorInterface } from '../../graphql/errors.ts';
import type { FieldCost } from '../../graphql/limits.ts';
import { defineNodeFinder } from '../../graphql/nodes.ts';
import { EnvironmentTagType } from '../../graphql/scalars.ts';
import {
  type DataSourceMapping,
  type GivenName,
  type GivenValue,
  givenAttributes,
  mappingEntries,
  userGroupLimits,
} from '../attributes.ts';
import { currentTokenOf, findUserGroup, type UserGroupBy } from '../user-groups.ts';

const DataSourceMappingType = builder.objectRef<DataSourceMapping>('DataSourceMapping').implement({
  description: 'Maps a schema to its data source.',
  fields: (t) => ({
    schemaId: t.exposeString('schemaId', { description: 'The ID of the schema.' }),
    dataSource: t.exposeString('dataSource', { description: 'The data source: its ID, or the identifier that you gave it.' }),
  }),
});

/** Up to 64 KiB, which are parsed for each request. */
const largeField = { heavy: 1 } satisfies FieldCost;

/** The fields of the attributes that callers give. */
function givenFields(t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, UserGroup>) {
  return Object.fromEntries(
    givenAttributes.map(([name, { graphql, nullable = false }]) => {
      const description = graphql.field;
      if (graphql.type === 'String') return [name, t.expose(name as 'name', { type: 'String', nullable, description })];
      const options = { extensions: largeField, nullable, description };
      return graphql.type === 'JSON'
        ? [name, t.expose(name as 'properties', { type: 'JSON', ...options, nullable: nullable as true })]
        : [
            name,
            t.field({
              type: [DataSourceMappingType],
              ...options,
              extensions: { ...largeField, listSize: () => 50 } satisfies FieldCost & Record<string, unknown>,
              resolve: (group) => mappingEntries(group[name]) as DataSourceMapping[],
            }),
          ];
    }),
  );
}

/** Whether the tokens of a group identify it. */
export const UserGroupStatusType = builder.enumType('UserGroupStatus', {
  description: 'Whether the tokens of a user group identify it.',
  values: {
    ACTIVE: { description: 'Its tokens identify it.' },
    SUSPENDED: { description: 'Its tokens and its embed tokens identify nothing until it is resumed.' },
  } as const,
});

/** A user group. */
export const UserGroupType = builder.objectRef<UserGroup>('UserGroup');

builder.node(UserGroupType, {
  description: 'A group of end users who view embedded dashboards.',
  id: { resolve: ({ teamId }) => String(teamId), description: 'The globally unique ID of the group.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'tokenHash' in value,
  fields: (t) => ({
    teamId: t.exposeInt('teamId', { description: 'The number that the gateway assigned to the group.' }),
    providedId: t.exposeString('providedId', {
      description: 'Your own identifier for the group, unique within its environment.',
    }),
    token: t.string({
      description:
        'The current user group token: identifies the group when a dashboard is rendered. Not a credential for this API. ' +
        'Requires the scope groups:read or groups:write; with groups:resolve alone it is FORBIDDEN, so that a token in its ' +
        'grace period does not reveal its replacement.',
      resolve: (group, _, context) => currentTokenOf(context, group),
    }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment of the group; null means untagged.',
    }),
    dataSource: t.string({
      nullable: true,
      extensions: largeField,
      description: 'The data source of one schema: the entry of `mapping` with this schema ID; null if there is none.',
      args: { schemaId: t.arg.string({ required: true, description: 'The ID of the schema.' }) },
      resolve: ({ mapping }, { schemaId }) =>
        Object.hasOwn(mapping as object, schemaId) ? (mapping as Record<string, string>)[schemaId] : undefined,
    }),
    status: t.field({
      type: UserGroupStatusType,
      description: 'Whether its tokens identify it.',
      resolve: ({ suspended }) => (suspended ? 'SUSPENDED' : 'ACTIVE'),
    }),
    suspendedReason: t.exposeString('suspendedReason', {
      nullable: true,
      description: 'Why it was suspended; null if no reason was given, or it is active.',
    }),
    lastResolvedAt: t.expose('lastResolvedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When one of its tokens was looked up; null if never. Renewed at most once an hour, so the last look-up may be up to an ' +
        'hour later.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the group was created.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When the group was last changed, including token rotation.',
    }),
    ...givenFields(t),
    version: t.exposeInt('version', {
      description:
        '1 when the group is created, and one more with each change that sets updatedAt. Send it ' +
        'as expectedVersion, so that your change does not replace one that you have not seen.',
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
      description:
        'Your own identifier. With scope `admin`, a group in the environment of the API token takes precedence; ' +
        'a deletion with an API token of Customer or Testing finds none of the other.',
    }),
    token: t.string({ description: 'A user group token: the current one, or one in its grace period.' }),
  }),
});

/** Converts the input to the domain's selector. An id that cannot be a group's selects none. */
export function selector({ id, teamId, providedId, token }: typeof UserGroupByInput.$inferInput): UserGroupBy {
  if (id != null) return { teamId: numberOfNode('UserGroup', id) };
  if (teamId != null) return { teamId };
  return providedId != null ? { providedId } : { token: token as string };
}

defineNodeFinder('UserGroup', {
  scope: 'groups:read',
  noun: 'a user group',
  find: (context, id) => findUserGroup(context, { teamId: readNumber(id) }),
});

builder.queryFields((t) => ({
  userGroup: t.field({
    type: UserGroupType,
    nullable: true,
    description:
      'One user group; null if it does not exist or the API token has no access to it. The token selector resolves which user ' +
      'group is viewing a dashboard and requires the scope groups:resolve, which groups:read includes; every other selector ' +
      'requires groups:read.',
    args: { by: t.arg({ type: UserGroupByInput, required: true, description: 'Selects the group.' }) },
    resolve: (_, { by }, context) => findUserGroup(context, selector(by)),
  }),
}));

builder.objectType(VersionMismatch, {
  name: 'VersionMismatch',
  description: 'The group does not have the expected version: it has changed since you read it. Nothing was changed.',
  interfaces: [ErrorInterface],
  isTypeOf: (value) => value instanceof VersionMismatch,
  fields: (t) => ({
    userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group as it is, with its current version.' }),
  }),
});

const { maxTextLength } = userGroupLimits;

/** One entry of a mapping in an input. */
const DataSourceMappingInput = builder.inputType('DataSourceMappingInput', {
  description: 'Maps a schema to its data source.',
  fields: (t) => ({
    schemaId: t.string({
      required: true,
      description: `The ID of the schema: at most ${maxTextLength} characters, unique within the mapping.`,
    }),
    dataSource: t.string({
      required: true,
      description: `The data source: its ID, or the identifier that you gave it, at most ${maxTextLength} characters.`,
    }),
  }),
});

/**
 * The fields of the attributes that callers give, in an input.
 *
 * @param use what the input is for.
 */
export function givenInputs(
  t: PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>,
  use: 'create' | 'update',
): GivenInputs {
  const fields = givenAttributes.map(([name, { graphql }]) => {
    const description = graphql[use];
    const { type } = graphql;
    return [
      name,
      type === 'DataSourceMapping' ? t.field({ type: [DataSourceMappingInput], description }) : t.field({ type, description }),
    ];
  });
  return Object.fromEntries(fields) as GivenInputs;
}

type GivenInputs = { [Name in GivenName]: InputFieldRef<typeof builder.$inferSchemaTypes, GivenValue<Name> | null | undefined> };
