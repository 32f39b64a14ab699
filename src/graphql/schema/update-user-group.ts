import { NotFound, VersionMismatch } from '../../domain/errors.ts';
import { userGroupLimits } from '../../domain/limits.ts';
import { checkUpdate } from '../../domain/user-group-input.ts';
import { updateUserGroup } from '../../domain/user-group-update.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { expectedVersionDescription, expectedVersionsOf } from './expected-version.ts';
import { checkInput } from './input-check.ts';
import { requireSelector, UserGroupByInput, UserGroupType } from './user-group.ts';
import { DataSourceMappingInput, mappingLimit, propertiesLimit } from './user-group-inputs.ts';

const UpdateUserGroupPayload = builder.objectRef<{ userGroup: UserGroup }>('UpdateUserGroupPayload').implement({
  description: 'The group after the change.',
  fields: (t) => ({ userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group with its new values.' }) }),
});

builder.mutationField('updateUserGroup', (t) =>
  t.field({
    type: UpdateUserGroupPayload,
    nullable: true,
    errors: { types: [NotFound, VersionMismatch], union: { description: 'The changed group, or an error.' } },
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
            name: field.string({
              description: `The display name: 1 to ${userGroupLimits.maxTextLength} characters; a new one without control characters.`,
            }),
            mapping: field.field({
              type: [DataSourceMappingInput],
              description: `Replaces the whole mapping: ${mappingLimit}.`,
            }),
            properties: field.field({
              type: 'JSON',
              description: `Replaces all properties: a JSON object of ${propertiesLimit}; null clears them.`,
            }),
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
      const expectedVersions = expectedVersionsOf(input, context);
      return { userGroup: await updateUserGroup(services, caller, requireSelector(by), { ...change, expectedVersions }) };
    },
  }),
);
