import { Conflict, Forbidden, InvalidInput, Unauthenticated } from '../../errors.ts';
import { builder } from '../../graphql/builder.ts';
import { type FieldCost, type RawVariables, readsHeavy } from '../../graphql/limits.ts';
import { EnvironmentTagType } from '../../graphql/scalars.ts';
import { userGroupLimits } from '../attributes.ts';
import { type Creation, getOrCreateUserGroup, getOrCreateUserGroups } from '../create.ts';
import { maxBulkGroups } from '../user-groups.ts';
import { givenInputs, UserGroupType } from './type.ts';

const { maxTextLength } = userGroupLimits;

const GetOrCreateUserGroupPayload = builder.objectRef<Creation>('GetOrCreateUserGroupPayload').implement({
  description: 'The group, and whether this call created it.',
  fields: (t) => ({
    userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group as it is stored.' }),
    created: t.exposeBoolean('created', {
      description: 'Whether this call created it. Of concurrent calls, exactly one does.',
    }),
  }),
});

/** The outcome of one group, which the bulk mutation has a list of. */
const GetOrCreateUserGroupResult = builder.errorUnion('GetOrCreateUserGroupResult', {
  description: 'The group, or an error.',
  types: [GetOrCreateUserGroupPayload, Unauthenticated, Forbidden, InvalidInput, Conflict],
  resolveType: () => 'GetOrCreateUserGroupPayload', // of whatever is not an error
});

/** The input of one group. */
const GetOrCreateUserGroupInput = builder.inputType('GetOrCreateUserGroupInput', {
  description: 'The id, and the initial values of a new group.',
  fields: (t) => ({
    providedId: t.string({
      required: true,
      description: `Your own identifier for the group: 1 to ${maxTextLength} characters without control characters.`,
    }),
    ...givenInputs(t, 'create'),
    environmentTag: t.field({
      type: EnvironmentTagType,
      description:
        'The environment of the group; null means untagged. Defaults to the environment of the API token. Any other value ' +
        'requires the scope admin; without it, the result is Forbidden.',
    }),
  }),
});

builder.mutationField('getOrCreateUserGroup', (t) =>
  t.field({
    type: GetOrCreateUserGroupResult,
    nullable: true,
    description:
      'Returns the group with this id, or creates it if it does not exist. Never changes an existing group. Requires the scope ' +
      'groups:write, which includes reading the group with this id.',
    args: {
      input: t.arg({
        type: GetOrCreateUserGroupInput,
        required: true,
        description: 'The id, and the initial values of a new group.',
      }),
    },
    resolve: (_, { input }, context) => getOrCreateUserGroup(context, input),
  }),
);

/**
 * What each group costs beyond the fields of its result: a twentieth of a look-up of its own, because all share their statements.
 */
const costOfEach = 2;

/** How many groups an input has, at most. */
function groupCount({ input }: RawVariables): number {
  const { groups } = Object(input) as { groups?: unknown };
  return Array.isArray(groups) ? groups.length : maxBulkGroups;
}

const maxGroups = maxBulkGroups.toLocaleString('en-US');

builder.relayMutationField(
  'getOrCreateUserGroups',
  {
    description: 'The groups to return or create.',
    inputFields: (t) => ({
      groups: t.field({
        type: [GetOrCreateUserGroupInput],
        required: true,
        description: `1 to ${maxGroups} groups. An id may occur more than once.`,
      }),
    }),
  },
  {
    nullable: true,
    errors: { union: { description: 'The results, or an error that concerns the whole call. Then nothing was changed.' } },
    extensions: { cost: (args) => costOfEach * groupCount(args), listSize: groupCount } satisfies FieldCost,
    description:
      `Does what getOrCreateUserGroup does for 1 to ${maxGroups} groups at once, with the same results as calls ` +
      'one after another, and many times faster. An error of one group does not affect the others. Read the ' +
      'properties and mappings of many groups by userGroups. Requires the scope groups:write.',
    resolve: async (_, { input: { groups } }, context, info) => ({
      results: await getOrCreateUserGroups(context, groups, readsHeavy(info)),
    }),
  },
  {
    description: 'The outcome of each group.',
    outputFields: (t) => ({
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
  },
);
