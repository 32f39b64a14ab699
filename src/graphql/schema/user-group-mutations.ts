import { Conflict, NotFound } from '../../domain/errors.ts';
import { checkGetOrCreate, checkRotate, checkUpdate } from '../../domain/user-group-input.ts';
import { getOrCreateUserGroup, rotateUserGroupToken, updateUserGroup } from '../../domain/user-groups.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { checkInput } from './input-check.ts';
import { selector, UserGroupByInput, UserGroupType } from './user-group.ts';

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
    extensions: checkInput(checkGetOrCreate),
    description:
      'Returns the group with this id, and creates it if there is none. Never changes a group that exists. Needs the scope ' +
      'groups:write, which includes reading the group with this id.',
    args: {
      input: t.arg({
        required: true,
        description: 'The id, and what a new group starts with.',
        type: builder.inputType('GetOrCreateUserGroupInput', {
          description: 'The id, and what a new group starts with.',
          fields: (field) => ({
            providedId: field.string({ required: true, description: 'Your own identifier of the group: 1 to 255 characters.' }),
            name: field.string({ description: 'The display name: 1 to 255 characters. Left out, it is the id.' }),
            mapping: field.field({ type: [DataSourceMappingInput], description: 'Data sources of schemas: at most 1,000.' }),
            properties: field.field({ type: 'JSON', description: 'A JSON object of at most 64 KiB and 32 levels.' }),
            environmentTag: field.field({
              type: EnvironmentTagType,
              description:
                'The environment of the group; null means untagged. Left out, it is that of the API token. Naming another one ' +
                'needs the scope admin: without it, the result is Forbidden.',
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
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group as it is stored now.' }) }),
});

builder.mutationField('updateUserGroup', (t) =>
  t.field({
    type: UpdateUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The changed group, or why nothing was changed.' } },
    extensions: checkInput(checkUpdate),
    description:
      'Changes the fields that are given and leaves the others. Needs the scope groups:write, which includes reading the group ' +
      'that is changed.',
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
    extensions: checkInput(checkRotate),
    description:
      'Replaces the current token with a new one. Of concurrent rotations of one token exactly one succeeds. Needs the scope ' +
      'groups:write, which includes reading the group whose token is replaced.',
    args: {
      input: t.arg({
        required: true,
        description: 'The token to replace.',
        type: builder.inputType('RotateUserGroupTokenInput', {
          description: 'The token to replace, how long it still works, and whether tokens replaced earlier stop.',
          fields: (field) => ({
            currentToken: field.string({ required: true, description: 'The group’s current token.' }),
            graceSeconds: field.int({
              description:
                'How long the replaced token still identifies the group, in seconds: 0 to 604800. Left out, it stops at once.',
            }),
            endGracePeriods: field.boolean({
              defaultValue: false,
              description:
                'Whether every token that was replaced earlier stops at once, such as a leaked one in its grace period. The token ' +
                'replaced by this call is not one of them: graceSeconds decides how long it still works.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, { db, caller }) => rotateUserGroupToken(db, caller, input),
  }),
);
