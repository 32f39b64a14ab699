import { builder } from './builder.ts';

/** The environment of a group or an API token; none means untagged. */
export const EnvironmentTagType = builder.enumType('EnvironmentTag', {
  description: 'An environment. Two groups may share an id only if one is of each.',
  values: {
    CUSTOMER: { value: 'Customer', description: 'Groups of real customers.' },
    TESTING: { value: 'Testing', description: 'Groups made for trying things out.' },
  } as const,
});
