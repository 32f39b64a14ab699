import { builder } from '../../graphql/builder.ts';

/** Whether the tokens of a group identify it. */
export const UserGroupStatusType = builder.enumType('UserGroupStatus', {
  description: 'Whether the tokens of a user group identify it.',
  values: {
    ACTIVE: { description: 'Its tokens identify it.' },
    SUSPENDED: { description: 'Its tokens and its embed tokens identify nothing until it is resumed.' },
  } as const,
});
