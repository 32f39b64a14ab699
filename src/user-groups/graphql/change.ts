import { encodeGlobalID } from '@pothos/plugin-relay';
import { Conflict, NotFound, VersionMismatch } from '../../errors.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { EnvironmentTagType } from '../../graphql/scalars.ts';
import { propertiesLimit, userGroupLimits } from '../attributes.ts';
import {
  deleteUserGroup,
  resumeUserGroup,
  rotateUserGroupToken,
  setUserGroupEnvironment,
  suspendUserGroup,
  updateUserGroup,
} from '../change.ts';
import { maxGraceSeconds } from '../user-groups.ts';
import { givenInputs, selector, UserGroupByInput, UserGroupType } from './type.ts';

type Builder = typeof builder.$inferSchemaTypes;

/** The input field that selects the group. */
const by = (t: PothosSchemaTypes.InputFieldBuilder<Builder, 'InputObject'>, description = 'Selects the group.') =>
  t.field({ type: UserGroupByInput, required: true, description });

/** The input field with the version that the group must have. */
const expectedVersion = (t: PothosSchemaTypes.InputFieldBuilder<Builder, 'InputObject'>) =>
  t.int({
    description:
      'The version that the group must have: the one that you read. If it has another one, nothing is ' +
      'changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed.',
  });

/** The field of a payload that has the group. */
const userGroupField = <Payload extends { readonly userGroup: UserGroup }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Builder, Payload>,
  description: string,
) => t.field({ type: UserGroupType, description, resolve: ({ userGroup }) => userGroup });

/** What all changes of a selected group have. */
const errorsOf = (what: string, types: ErrorType[] = [NotFound, VersionMismatch]) => ({
  nullable: true as const,
  errors: { types, union: { description: `${what}, or an error.` } },
});

type ErrorType = typeof NotFound | typeof VersionMismatch | typeof Conflict;

builder.relayMutationField(
  'updateUserGroup',
  {
    description: 'The group to change, and its new values. Omitted fields stay unchanged.',
    inputFields: (t) => ({
      by: by(t),
      ...givenInputs(t, 'update'),
      mergeProperties: t.field({
        type: 'JSON',
        description:
          `Changes single properties: a JSON Merge Patch (RFC 7396) of ${propertiesLimit}. Members replace those of the ` +
          'same name, nested objects are merged, and null removes a member: {"plan": "gold", "trial": null}. Concurrent patches ' +
          'are all applied. The result must be within the limits of properties. Cannot be combined with properties.',
      }),
      expectedVersion: expectedVersion(t),
    }),
  },
  {
    ...errorsOf('The changed group'),
    description:
      'Changes the given fields and leaves the others unchanged. Requires the scope groups:write, which includes reading the ' +
      'changed group.',
    resolve: async (_, { input }, context) => {
      const { by: selected, ...changes } = input;
      return { userGroup: await updateUserGroup(context, selector(selected), changes) };
    },
  },
  {
    description: 'The group after the change.',
    outputFields: (t) => ({ userGroup: userGroupField(t, 'The group with its new values.') }),
  },
);

builder.relayMutationField(
  'deleteUserGroup',
  { description: 'The group to delete.', inputFields: (t) => ({ by: by(t), expectedVersion: expectedVersion(t) }) },
  {
    ...errorsOf('What was deleted'),
    description:
      'Deletes a group permanently. Its token, and replaced tokens in their grace period, stop identifying it with the next ' +
      'request; its provided id can be used for a new group, which gets a new token and a new teamId. Requires the scope groups:write.',
    resolve: async (_, { input }, context) => ({
      deletedId: encodeGlobalID('UserGroup', await deleteUserGroup(context, selector(input.by), input.expectedVersion)),
    }),
  },
  {
    description: 'What was deleted.',
    outputFields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The globally unique ID that the group had.' }) }),
  },
);

builder.relayMutationField(
  'rotateUserGroupToken',
  {
    description:
      'The token to replace, its grace period, and whether to end earlier grace periods. Needs one of currentToken and by.',
    inputFields: (t) => ({
      currentToken: t.string({
        description: 'The group’s current token. Once another call has replaced it, the result is NotFound.',
      }),
      by: t.field({
        type: UserGroupByInput,
        description: 'Selects the group whose current token is replaced, for example a leaked one that you need not read.',
      }),
      graceSeconds: t.int({
        description: `How long the replaced token still identifies the group, in seconds: 0 to ${maxGraceSeconds}. Defaults to 0: it expires immediately.`,
      }),
      endGracePeriods: t.boolean({
        defaultValue: false,
        description:
          'Whether to expire every token that was replaced earlier, for example a leaked one in its grace period. Does not ' +
          'affect the token that this call replaces, which expires after graceSeconds.',
      }),
      expectedVersion: expectedVersion(t),
    }),
  },
  {
    ...errorsOf('The group with its new token'),
    description:
      'Replaces the current token with a new one. Of concurrent rotations by one currentToken exactly one succeeds. Requires the scope ' +
      'groups:write, which includes reading the group whose token is replaced.',
    resolve: (_, { input }, context) => {
      const { by: selected, ...given } = input;
      return rotateUserGroupToken(context, { ...given, ...(selected && { by: selector(selected) }) });
    },
  },
  {
    description: 'The group with its new token.',
    outputFields: (t) => ({
      userGroup: userGroupField(t, 'The group with its new token.'),
      previousTokenExpiresAt: t.expose('previousTokenExpiresAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When the replaced token expires; null if it has expired already.',
      }),
    }),
  },
);

builder.relayMutationField(
  'setUserGroupEnvironment',
  {
    description: 'The group, and its new environment.',
    inputFields: (t) => ({
      by: by(t),
      environmentTag: t.field({
        type: EnvironmentTagType,
        description: 'The new environment; null means untagged. Must be given.',
      }),
      expectedVersion: expectedVersion(t),
    }),
  },
  {
    ...errorsOf('The group in its new environment', [NotFound, VersionMismatch, Conflict]),
    description:
      'Moves a group to another environment: labels an untagged group as CUSTOMER or TESTING, for example. Its provided id, teamId ' +
      'and tokens stay. Conflict if another group has the same provided id there; for untagged, in either environment. From then ' +
      'on only API tokens of the new environment have access to the group. Requires the scope admin.',
    resolve: async (_, { input }, context) => ({
      userGroup: await setUserGroupEnvironment(context, selector(input.by), input.environmentTag, input.expectedVersion),
    }),
  },
  {
    description: 'The group in its new environment.',
    outputFields: (t) => ({ userGroup: userGroupField(t, 'The group in its new environment.') }),
  },
);

const byNotSuspended = 'Selects the group; not by a token if it is suspended.';

builder.relayMutationField(
  'suspendUserGroup',
  {
    description: 'The group to suspend, and why.',
    inputFields: (t) => ({
      by: by(t, byNotSuspended),
      reason: t.string({
        description:
          `Why it is suspended: 1 to ${userGroupLimits.maxTextLength} characters without control characters. Without it, a group ` +
          'that is suspended already has no reason any more.',
      }),
      expectedVersion: expectedVersion(t),
    }),
  },
  {
    ...errorsOf('The suspended group'),
    description:
      'Suspends a group: its tokens, those in their grace period too, and its embed tokens identify nothing from the next request ' +
      'on, until it is resumed. It can still be read, changed and deleted. Suspending it again replaces ' +
      'the reason. Requires the scope groups:write.',
    resolve: async (_, { input }, context) => ({
      userGroup: await suspendUserGroup(context, selector(input.by), input.reason, input.expectedVersion),
    }),
  },
  { description: 'The suspended group.', outputFields: (t) => ({ userGroup: userGroupField(t, 'The suspended group.') }) },
);

builder.relayMutationField(
  'resumeUserGroup',
  {
    description: 'The group to resume.',
    inputFields: (t) => ({ by: by(t, byNotSuspended), expectedVersion: expectedVersion(t) }),
  },
  {
    ...errorsOf('The group, which is active'),
    description:
      'Resumes a suspended group: its tokens identify it again. A group that is not suspended stays as it is. Requires the scope ' +
      'groups:write.',
    resolve: async (_, { input }, context) => ({
      userGroup: await resumeUserGroup(context, selector(input.by), input.expectedVersion),
    }),
  },
  {
    description: 'The group, which is active.',
    outputFields: (t) => ({ userGroup: userGroupField(t, 'The group, which is active.') }),
  },
);
