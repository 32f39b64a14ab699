import { encodeGlobalID } from '@pothos/plugin-relay';
import { NotFound } from '../../domain/errors.ts';
import { deleteUserGroup } from '../../domain/user-group-deletion.ts';
import { builder } from './builder.ts';
import { requireSelector, UserGroupByInput } from './user-group.ts';

const DeleteUserGroupPayload = builder.objectRef<{ deletedId: string }>('DeleteUserGroupPayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The globally unique ID that the group had.' }) }),
});

builder.mutationField('deleteUserGroup', (t) =>
  t.field({
    type: DeleteUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'What was deleted, or an error.' } },
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
          }),
        }),
      }),
    },
    resolve: async (_, { input: { by } }, { db, caller }) => {
      caller.require('groups:write');
      const { teamId } = await deleteUserGroup(db, caller, requireSelector(by));
      return { deletedId: encodeGlobalID('UserGroup', teamId) };
    },
  }),
);
