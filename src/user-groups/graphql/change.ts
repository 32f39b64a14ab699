import { encodeGlobalID } from '@pothos/plugin-relay';
import { Conflict, NotFound, VersionMismatch } from '../../errors.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { EnvironmentTagType } from '../../graphql/scalars.ts';
import { propertiesLimit } from '../attributes.ts';
import { deleteUserGroup, setUserGroupEnvironment, updateUserGroup } from '../change.ts';
import { maxGraceSeconds } from '../rules.ts';
import { rotateUserGroupToken } from '../user-groups.ts';
import {
  expectedVersionDescription,
  expectedVersionsOf,
  givenInputs,
  requireSelector,
  UserGroupByInput,
  UserGroupType,
} from './type.ts';

const UpdateUserGroupPayload = builder.objectRef<{ userGroup: UserGroup }>('UpdateUserGroupPayload').implement({
  description: 'The group after the change.',
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group with its new values.' }) }),
});

builder.mutationField('updateUserGroup', (t) =>
  t.field({
    type: UpdateUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound, VersionMismatch], union: { description: 'The changed group, or an error.' } },
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
            ...givenInputs(field, 'update'),
            mergeProperties: field.field({
              type: 'JSON',
              description:
                `Changes single properties: a JSON Merge Patch (RFC 7396) of ${propertiesLimit}. Members replace those of the ` +
                'same name, nested objects are merged, and null removes a member: {"plan": "gold", "trial": null}. Concurrent patches ' +
                'are all applied. The result must be within the limits of properties. Cannot be combined with properties.',
            }),
            expectedVersion: field.int({ description: expectedVersionDescription }),
          }),
        }),
      }),
    },
    resolve: async (_, { input }, context) => {
      const { services, caller } = context;
      caller.require('groups:write');
      const { by, ...change } = input;
      const expectedVersions = expectedVersionsOf(input);
      return { userGroup: await updateUserGroup(services, caller, requireSelector(by), { ...change, expectedVersions }) };
    },
  }),
);

const DeleteUserGroupPayload = builder.objectRef<{ deletedId: string }>('DeleteUserGroupPayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The globally unique ID that the group had.' }) }),
});

builder.mutationField('deleteUserGroup', (t) =>
  t.field({
    type: DeleteUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound, VersionMismatch], union: { description: 'What was deleted, or an error.' } },
    description:
      'Deletes a group permanently. Its token, and replaced tokens in their grace period, stop identifying it with the next ' +
      'request; its provided id can be used for a new group, which gets a new token and a new teamId. Requires the scope groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'The group to delete.',
        type: builder.inputType('DeleteUserGroupInput', {
          description: 'The group to delete.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Selects the group.' }),
            expectedVersion: field.int({ description: expectedVersionDescription }),
          }),
        }),
      }),
    },
    resolve: async (_, { input }, context) => {
      const { services, caller } = context;
      caller.require('groups:write');
      const { teamId } = await deleteUserGroup(services, caller, requireSelector(input.by), expectedVersionsOf(input));
      return { deletedId: encodeGlobalID('UserGroup', teamId) };
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
    errors: { types: [NotFound, VersionMismatch], union: { description: 'The group with its new token, or an error.' } },
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
              description: `How long the replaced token still identifies the group, in seconds: 0 to ${maxGraceSeconds}. Defaults to 0: it expires immediately.`,
            }),
            endGracePeriods: field.boolean({
              defaultValue: false,
              description:
                'Whether to expire every token that was replaced earlier, for example a leaked one in its grace period. Does not ' +
                'affect the token that this call replaces, which expires after graceSeconds.',
            }),
            expectedVersion: field.int({ description: expectedVersionDescription }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, context) =>
      rotateUserGroupToken(context.services, context.caller, { ...input, expectedVersions: expectedVersionsOf(input) }),
  }),
);

const SetUserGroupEnvironmentPayload = builder.objectRef<{ userGroup: UserGroup }>('SetUserGroupEnvironmentPayload').implement({
  description: 'The group in its new environment.',
  fields: (t) => ({
    userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group in its new environment.' }),
  }),
});

builder.mutationField('setUserGroupEnvironment', (t) =>
  t.field({
    type: SetUserGroupEnvironmentPayload,
    nullable: true,
    errors: {
      types: [NotFound, VersionMismatch, Conflict],
      union: { description: 'The group in its new environment, or an error.' },
    },
    description:
      'Moves a group to another environment: labels an untagged group as CUSTOMER or TESTING, for example. Its provided id, teamId ' +
      'and tokens stay. Conflict if another group has the same provided id there; for untagged, in either environment. From then ' +
      'on only API tokens of the new environment have access to the group. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The group, and its new environment.',
        type: builder.inputType('SetUserGroupEnvironmentInput', {
          description: 'The group, and its new environment.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Selects the group.' }),
            environmentTag: field.field({
              type: EnvironmentTagType,
              description: 'The new environment; null means untagged. Must be given.',
            }),
            expectedVersion: field.int({ description: expectedVersionDescription }),
          }),
        }),
      }),
    },
    resolve: async (_, { input }, context) => {
      const { services, caller } = context;
      caller.require('admin');
      const { by, environmentTag } = input;
      const expectedVersions = expectedVersionsOf(input);
      return {
        userGroup: await setUserGroupEnvironment(services, caller, requireSelector(by), environmentTag, expectedVersions),
      };
    },
  }),
);
