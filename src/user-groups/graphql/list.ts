import { builder } from '../../graphql/builder.ts';
import { defineConnection, pageArguments, pageSize } from '../../graphql/connection.ts';
import { readsHeavy } from '../../graphql/limits.ts';
import { DateTimeRangeInput, EnvironmentTagType } from '../../graphql/scalars.ts';
import { type FieldCost, filterCost } from '../../graphql/selection.ts';
import { filteredAttributes } from '../attribute-values.ts';
import { listUserGroups } from '../list.ts';
import { UserGroupStatusType, UserGroupType } from './type.ts';

const EnvironmentTagFilterInput = builder.inputType('EnvironmentTagFilter', {
  description: 'Selects the groups of one environment.',
  fields: (t) => ({
    tag: t.field({ type: EnvironmentTagType, description: 'The environment; null means untagged. Required.' }),
  }),
});

const PropertyFilterInput = builder.inputType('PropertyFilter', {
  description: 'Selects groups by one of their properties: `{ path: ["plan"], equals: "gold" }`.',
  fields: (t) => ({
    path: t.stringList({
      required: true,
      description:
        'The member names that lead to the property, from the outermost; indexes of lists as text, negative ones from the end. 1 to 32.',
    }),
    equals: t.field({
      type: 'JSON',
      required: true,
      description:
        'The value that it must have. An object or a list is compared as a whole: all of its members and no others, those of an object ' +
        'in any order.',
    }),
  }),
});

const followed =
  'A group appears in the list when the change is committed, up to a minute later. To read what is new, begin a minute before the ' +
  'newest time of the reading before, and drop the groups whose id and version you know; a cursor of that reading misses some.';

const UserGroupFilterInput = builder.inputType('UserGroupFilter', {
  description: 'Selects user groups. Every given condition must hold.',
  fields: (t) => ({
    search: t.string({
      description:
        'A part of the name or the provided ID, regardless of upper and lower case: 1 to 255 characters. Three or more are found ' +
        'fastest.',
    }),
    providedIds: t.stringList({ description: 'The provided IDs to choose from: at most 100.' }),
    environmentTag: t.field({
      type: EnvironmentTagFilterInput,
      description:
        'The environment. Any other than that of the API token requires the scope admin; without this condition, admin lists every ' +
        'environment.',
    }),
    properties: t.field({ type: [PropertyFilterInput], description: 'Properties that the group must have: at most 5.' }),
    status: t.field({ type: UserGroupStatusType, description: 'Active groups, or suspended ones.' }),
    ...Object.fromEntries(
      filteredAttributes.map(([name, { label }]) => [
        name,
        t.string({ description: `${label}: exactly this text, 1 to 255 characters.` }),
      ]),
    ),
    notResolvedSince: t.field({
      type: 'DateTime',
      description: 'Groups whose `lastResolvedAt` is earlier than this time, or null.',
    }),
    createdAt: t.field({ type: DateTimeRangeInput, description: `When the group was created. ${followed}` }),
    updatedAt: t.field({ type: DateTimeRangeInput, description: `When the group was last changed. ${followed}` }),
  }),
});

const UserGroupOrderField = builder.enumType('UserGroupOrderField', {
  description: 'What user groups are sorted by. Groups with the same value are in the order of their team IDs.',
  values: {
    CREATED: { description: 'When the group was created.' },
    UPDATED: { description: 'When the group was last changed.' },
    NAME: { description: 'The display name, by code points: upper case before lower case.' },
    PROVIDED_ID: { description: 'Your own identifier, by code points.' },
  } as const,
});

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'The direction of an order.',
  values: {
    ASC: { description: 'The smallest or oldest first.' },
    DESC: { description: 'The greatest or newest first.' },
  } as const,
});

const UserGroupOrderInput = builder.inputType('UserGroupOrder', {
  description: 'The order of user groups.',
  fields: (t) => ({
    field: t.field({ type: UserGroupOrderField, required: true, defaultValue: 'CREATED', description: 'What to sort by.' }),
    direction: t.field({ type: OrderDirection, required: true, defaultValue: 'DESC', description: 'The direction.' }),
  }),
});

builder.queryField('userGroups', (t) =>
  t.field({
    type: defineConnection('UserGroup', UserGroupType, 'user groups'),
    nullable: true,
    extensions: { pageSize, cost: filterCost } satisfies FieldCost,
    description:
      'Lists the user groups of the environment of the API token, with scope admin of every environment. Requires the scope ' +
      'groups:read. The newest 20: `{ userGroups { nodes { providedId name } } }`. To search, and sort by name: ' +
      '`{ userGroups(filter: { search: "acme" }, orderBy: { field: NAME, direction: ASC }) { totalCount nodes { name } } }`. ' +
      'For the next page, pass `pageInfo { hasNextPage endCursor }` on as `after`, with the same filter and order. A filter that ' +
      'takes longer than 2 seconds results in UNAVAILABLE.',
    args: {
      ...pageArguments,
      filter: t.arg({ type: UserGroupFilterInput, description: 'Which groups to list. Defaults to all of them.' }),
      orderBy: t.arg({ type: UserGroupOrderInput, description: 'The order. Defaults to the newest first.' }),
    },
    resolve: (_, args, context, info) => listUserGroups(context, args, readsHeavy(info)),
  }),
);
