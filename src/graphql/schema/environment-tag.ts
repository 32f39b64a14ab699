import { builder } from './builder.ts';

/** The environment of a group or an API token; none means untagged. */
export const EnvironmentTagType = builder.enumType('EnvironmentTag', {
  description:
    'The environment of a user group or an API token. Two groups may share an id only if each environment has one of them.',
  values: {
    CUSTOMER: { value: 'Customer', description: 'Groups of real customers.' },
    TESTING: { value: 'Testing', description: 'Groups for testing.' },
  } as const,
});
