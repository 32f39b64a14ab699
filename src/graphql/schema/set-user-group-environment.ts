import { Conflict, NotFound, VersionMismatch } from '../../domain/errors.ts';
import { setUserGroupEnvironment } from '../../domain/user-group-environment.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { expectedVersionDescription, expectedVersionsOf } from './expected-version.ts';
import { requireSelector, UserGroupByInput, UserGroupType } from './user-group.ts';

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
      const expectedVersions = expectedVersionsOf(input, context);
      return {
        userGroup: await setUserGroupEnvironment(services, caller, requireSelector(by), environmentTag, expectedVersions),
      };
    },
  }),
);
