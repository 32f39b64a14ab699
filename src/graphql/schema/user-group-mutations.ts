import { Conflict, NotFound } from '../../domain/errors.ts';
import { checkGetOrCreate, checkRotate, checkUpdate } from '../../domain/user-group-input.ts';
import { getOrCreateUserGroup, rotateUserGroupToken, updateUserGroup } from '../../domain/user-groups.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { checkInput } from './input-check.ts';
import { selector, UserGroupByInput, UserGroupType } from './user-group.ts';

const DataSourceMappingInput = builder.inputType('DataSourceMappingInput', {
  description: 'Maps a schema to its data source.',
  fields: (t) => ({
    schemaId: t.string({
      required: true,
      description: 'The ID of the schema: at most 255 characters, unique within the mapping.',
    }),
    dataSource: t.string({
      required: true,
      description: 'The data source: its ID, or the identifier that you gave it, at most 255 characters.',
    }),
  }),
});

const GetOrCreateUserGroupPayload = builder
  .objectRef<{ userGroup: UserGroup; created: boolean }>('GetOrCreateUserGroupPayload')
  .implement({
    description: 'The group, and whether this call created it.',
    fields: (t) => ({
      userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group as it is stored.' }),
      created: t.exposeBoolean('created', {
        description: 'Whether this call created it. Of concurrent calls, exactly one does.',
      }),
    }),
  });

builder.mutationField('getOrCreateUserGroup', (t) =>
  t.field({
    type: GetOrCreateUserGroupPayload,
    nullable: true,
    errors: { types: [Conflict], union: { description: 'The group, or an error.' } },
    extensions: checkInput(checkGetOrCreate),
    description:
      'Returns the group with this id, or creates it if it does not exist. Never changes an existing group. Requires the scope ' +
      'groups:write, which includes reading the group with this id.',
    args: {
      input: t.arg({
        required: true,
        description: 'The id, and the initial values of a new group.',
        type: builder.inputType('GetOrCreateUserGroupInput', {
          description: 'The id, and the initial values of a new group.',
          fields: (field) => ({
            providedId: field.string({ required: true, description: 'Your own identifier for the group: 1 to 255 characters.' }),
            name: field.string({ description: 'The display name: 1 to 255 characters. Defaults to the id.' }),
            mapping: field.field({
              type: [DataSourceMappingInput],
              description: 'The data sources of schemas: at most 1,000 entries.',
            }),
            properties: field.field({ type: 'JSON', description: 'A JSON object of at most 64 KiB and 32 levels.' }),
            environmentTag: field.field({
              type: EnvironmentTagType,
              description:
                'The environment of the group; null means untagged. Defaults to the environment of the API token. Any other value ' +
                'requires the scope admin; without it, the result is Forbidden.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, { db, caller }) => getOrCreateUserGroup(db, caller, input),
  }),
);

const UpdateUserGroupPayload = builder.objectRef<{ userGroup: UserGroup }>('UpdateUserGroupPayload').implement({
  description: 'The group after the change.',
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group with its new values.' }) }),
});

builder.mutationField('updateUserGroup', (t) =>
  t.field({
    type: UpdateUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The changed group, or an error.' } },
    extensions: checkInput(checkUpdate),
    description:
      'Changes the given fields and leaves the others unchanged. Requires the scope groups:write, which includes reading the ' +
      'changed group.',
    args: {
      input: t.arg({
        required: true,
        description: 'The group to change, and its new values.',
        type: builder.inputType('UpdateUserGroupInput', {
          description: 'The group to change, and its new values. Omitted fields stay unchanged.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Selects the group.' }),
            name: field.string({ description: 'The display name: 1 to 255 characters.' }),
            mapping: field.field({
              type: [DataSourceMappingInput],
              description: 'Replaces the whole mapping: at most 1,000 entries.',
            }),
            properties: field.field({
              type: 'JSON',
              description: 'Replaces all properties: a JSON object of at most 64 KiB and 32 levels; null clears them.',
            }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { by, ...change } }, { db, caller }) => {
      caller.require('groups:write');
      const meant = selector(by);
      if (!meant) throw new NotFound('No such user group: the id is not the ID of a user group.');
      return { userGroup: await updateUserGroup(db, caller, meant, change) };
    },
  }),
);

const RotateUserGroupTokenPayload = builder
  .objectRef<{ userGroup: UserGroup; previousTokenExpiresAt: Date | null }>('RotateUserGroupTokenPayload')
  .implement({
    description: 'The group with its new token.',
    fields: (t) => ({
      userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group with its new token.' }),
      previousTokenExpiresAt: t.expose('previousTokenExpiresAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When the replaced token expires; null if it has expired already.',
      }),
    }),
  });

builder.mutationField('rotateUserGroupToken', (t) =>
  t.field({
    type: RotateUserGroupTokenPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The group with its new token, or an error.' } },
    extensions: checkInput(checkRotate),
    description:
      'Replaces the current token with a new one. Of concurrent rotations of one token exactly one succeeds. Requires the scope ' +
      'groups:write, which includes reading the group whose token is replaced.',
    args: {
      input: t.arg({
        required: true,
        description: 'The token to replace.',
        type: builder.inputType('RotateUserGroupTokenInput', {
          description: 'The token to replace, its grace period, and whether to end earlier grace periods.',
          fields: (field) => ({
            currentToken: field.string({ required: true, description: 'The group’s current token.' }),
            graceSeconds: field.int({
              description:
                'How long the replaced token still identifies the group, in seconds: 0 to 604800. Defaults to 0: it expires immediately.',
            }),
            endGracePeriods: field.boolean({
              defaultValue: false,
              description:
                'Whether to expire every token that was replaced earlier, for example a leaked one in its grace period. Does not ' +
                'affect the token that this call replaces, which expires after graceSeconds.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, { db, caller }) => rotateUserGroupToken(db, caller, input),
  }),
);
