import { NotFound } from '../../errors.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { resumeUserGroup, suspendUserGroup } from '../change.ts';
import { userGroupLimits } from '../values.ts';
import { requireSelector, UserGroupByInput, UserGroupType } from './type.ts';

const SuspendUserGroupPayload = builder.objectRef<{ userGroup: UserGroup }>('SuspendUserGroupPayload').implement({
  description: 'The suspended group.',
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The suspended group.' }) }),
});

builder.mutationField('suspendUserGroup', (t) =>
  t.field({
    type: SuspendUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The suspended group, or an error.' } },
    description:
      'Suspends a group: its tokens, those in their grace period too, and its embed tokens identify nothing from the next request ' +
      'on, until it is resumed. It can still be read, changed and deleted. Suspending it again replaces the reason. Requires the ' +
      'scope groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'The group to suspend.',
        type: builder.inputType('SuspendUserGroupInput', {
          description: 'The group to suspend, and why.',
          fields: (field) => ({
            by: field.field({
              type: UserGroupByInput,
              required: true,
              description: 'Selects the group; not by a token if it is suspended.',
            }),
            reason: field.string({
              description: `Why it is suspended: 1 to ${userGroupLimits.maxTextLength} characters without control characters. Defaults to none.`,
            }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { by, reason } }, { services, caller }) => {
      caller.require('groups:write');
      return { userGroup: await suspendUserGroup(services, caller, requireSelector(by), reason) };
    },
  }),
);

const ResumeUserGroupPayload = builder.objectRef<{ userGroup: UserGroup }>('ResumeUserGroupPayload').implement({
  description: 'The group, which is active.',
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group, which is active.' }) }),
});

builder.mutationField('resumeUserGroup', (t) =>
  t.field({
    type: ResumeUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The group, which is active, or an error.' } },
    description:
      'Resumes a suspended group: its tokens identify it again. A group that is not suspended stays as it is. Requires the scope ' +
      'groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'The group to resume.',
        type: builder.inputType('ResumeUserGroupInput', {
          description: 'The group to resume.',
          fields: (field) => ({
            by: field.field({
              type: UserGroupByInput,
              required: true,
              description: 'Selects the group; not by a token if it is suspended.',
            }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { by } }, { services, caller }) => {
      caller.require('groups:write');
      return { userGroup: await resumeUserGroup(services, caller, requireSelector(by)) };
    },
  }),
);
