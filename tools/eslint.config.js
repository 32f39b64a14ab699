// The lint rules of schema.graphql: all that graphql-eslint recommends, and those of Relay's specifications.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import graphql from '@graphql-eslint/eslint-plugin';

const schema = fileURLToPath(new URL('../schema.graphql', import.meta.url));
const hasConnections = /^type \w+Connection\b/m.test(readFileSync(schema, 'utf8'));

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
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false },
      ],
      // Relay's PageInfo is required from the first connection on.
      ...(!hasConnections && { '@graphql-eslint/relay-page-info': 'off' }),
    },
  },
];
