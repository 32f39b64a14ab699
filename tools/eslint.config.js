// The lint rules of schema.graphql: all that graphql-eslint recommends, and those of Relay's specifications.
import { fileURLToPath } from 'node:url';
import graphql from '@graphql-eslint/eslint-plugin';

const schema = fileURLToPath(new URL('../schema.graphql', import.meta.url));

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema } } },
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      // Values, errors and payloads are parts of a response without an identity; what can be fetched again implements Node.
      '@graphql-eslint/strict-id-in-types': 'off',
      // Lists of values (scopes, issues, the parts of a configuration file) are short and read whole; only what grows is paged.
      '@graphql-eslint/relay-edge-types': ['error', { withEdgeSuffix: true, listTypeCanWrapOnlyEdgeType: false }],
      // What belongs to one object, such as the events of a group, is read forwards only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
    },
  },
];
