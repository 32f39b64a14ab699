import { Conflict, Forbidden, InvalidInput, Unauthenticated } from '../../domain/errors.ts';
import { userGroupLimits } from '../../domain/limits.ts';
import { type Creation, getOrCreateUserGroup } from '../../domain/user-group-creation.ts';
import { checkGetOrCreate } from '../../domain/user-group-input.ts';
import { builder } from './builder.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { checkInput } from './input-check.ts';
import { UserGroupType } from './user-group.ts';
import { DataSourceMappingInput, mappingLimit, propertiesLimit } from './user-group-inputs.ts';

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
export const GetOrCreateUserGroupResult = builder.errorUnion('GetOrCreateUserGroupResult', {
  description: 'The group, or an error.',
  types: [GetOrCreateUserGroupPayload, Unauthenticated, Forbidden, InvalidInput, Conflict],
  resolveType: () => 'GetOrCreateUserGroupPayload', // of whatever is not an error
});

/** The input of one group. */
export const GetOrCreateUserGroupInput = builder.inputType('GetOrCreateUserGroupInput', {
  description: 'The id, and the initial values of a new group.',
  fields: (t) => ({
    providedId: t.string({
      required: true,
      description: `Your own identifier for the group: 1 to ${maxTextLength} characters; of a new group without control characters.`,
    }),
    name: t.string({
      description: `The display name: 1 to ${maxTextLength} characters; of a new group without control characters. Defaults to the id.`,
    }),
    mapping: t.field({
      type: [DataSourceMappingInput],
      description: `The data sources of schemas: ${mappingLimit}.`,
    }),
    properties: t.field({ type: 'JSON', description: `A JSON object of ${propertiesLimit}.` }),
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
    extensions: checkInput(checkGetOrCreate),
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
    resolve: (_, { input }, { services, caller }) => getOrCreateUserGroup(services, caller, input),
  }),
);
