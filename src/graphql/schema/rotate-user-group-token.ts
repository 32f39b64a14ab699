import { NotFound, VersionMismatch } from '../../domain/errors.ts';
import { checkRotate, maxGraceSeconds } from '../../domain/user-group-input.ts';
import { rotateUserGroupToken } from '../../domain/user-groups.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { expectedVersionDescription, expectedVersionsOf } from './expected-version.ts';
import { checkInput } from './input-check.ts';
import { UserGroupType } from './user-group.ts';

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
      rotateUserGroupToken(context.services, context.caller, { ...input, expectedVersions: expectedVersionsOf(input, context) }),
  }),
);
