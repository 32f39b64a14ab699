import { encodeGlobalID } from '@pothos/plugin-relay';
import { NotFound, VersionMismatch } from '../../domain/errors.ts';
import { deleteUserGroup } from '../../domain/user-group-deletion.ts';
import { builder } from './builder.ts';
import { expectedVersionDescription, expectedVersionsOf } from './expected-version.ts';
import { requireSelector, UserGroupByInput } from './user-group.ts';

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
      const { teamId } = await deleteUserGroup(services, caller, requireSelector(input.by), expectedVersionsOf(input, context));
      return { deletedId: encodeGlobalID('UserGroup', teamId) };
    },
  }),
);
