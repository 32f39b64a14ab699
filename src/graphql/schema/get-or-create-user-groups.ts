import type { GatewayError } from '../../domain/errors.ts';
import { getOrCreateUserGroups } from '../../domain/user-group-bulk-creation.ts';
import type { Creation } from '../../domain/user-group-creation.ts';
import { maxBulkGroups } from '../../domain/user-group-input.ts';
import { builder } from './builder.ts';
import type { FieldCost, RawVariables } from './field-cost.ts';
import { GetOrCreateUserGroupInput, GetOrCreateUserGroupResult } from './get-or-create-user-group.ts';
import { readsJson } from './user-group.ts';

/**
 * What each group costs beyond the fields of its result: a twentieth of a look-up of its own, because all share their statements.
 */
const costOfEach = 2;

/** How many groups an input has, as it was sent; one that is not in a list counts as a list of one. */
function groupCount({ input }: RawVariables): number {
  const { groups } = (input ?? {}) as { groups?: unknown };
  return Array.isArray(groups) ? groups.length : 1;
}

const GetOrCreateUserGroupsPayload = builder
  .objectRef<{ results: (Creation | GatewayError)[] }>('GetOrCreateUserGroupsPayload')
  .implement({
    description: 'The outcome of each group.',
    fields: (t) => ({
      results: t.field({
        type: [GetOrCreateUserGroupResult],
        description:
          'One result for each group of the input, in the same order: the group, or its own error. The path of an issue begins at ' +
          'that group’s input.',
        // The root field counts everything below it once for each group.
        extensions: { listSize: () => 1 } satisfies FieldCost,
        resolve: ({ results }) => results as Creation[],
      }),
    }),
  });

builder.mutationField('getOrCreateUserGroups', (t) =>
  t.field({
    type: GetOrCreateUserGroupsPayload,
    nullable: true,
    errors: { union: { description: 'The results, or an error that concerns the whole call. Then nothing was changed.' } },
    extensions: { cost: (args) => costOfEach * groupCount(args), listSize: groupCount } satisfies FieldCost,
    description:
      `Does what getOrCreateUserGroup does for 1 to ${maxBulkGroups.toLocaleString('en-US')} groups at once, with the same results as calls ` +
      'one after another, and many times faster. An error of one group does not affect the others. Select properties and mapping ' +
      'only for some 100 groups at a time: their cost counts for each group. Requires the scope groups:write.',
    args: {
      input: t.arg({
        required: true,
        description: 'The groups to return or create.',
        type: builder.inputType('GetOrCreateUserGroupsInput', {
          description: 'The groups to return or create.',
          fields: (field) => ({
            groups: field.field({
              type: [GetOrCreateUserGroupInput],
              required: true,
              description: `1 to ${maxBulkGroups.toLocaleString('en-US')} groups. An id may occur more than once.`,
            }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { groups } }, { services, caller }, info) => ({
      results: await getOrCreateUserGroups(services, caller, groups, { withJson: readsJson(info) }),
    }),
  }),
);
