import SchemaBuilder from '@pothos/core';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import { Forbidden, InvalidInput, Unauthenticated } from '../../domain/errors.ts';
import type { Json } from '../../domain/limits.ts';
import type { GraphQLContext } from './context.ts';
import CountErrors from './count-errors.ts';
import RequireCredential from './require-credential.ts';
import ResponseMeter from './response-meter.ts';

/** The types that every part of the schema builds on. */
export interface SchemaTypes {
  Context: GraphQLContext;
  DefaultFieldNullability: false;
  Scalars: {
    JSON: { Input: Json; Output: unknown };
    DateTime: { Input: Date; Output: Date };
    ID: { Input: string; Output: string };
  };
}

/** Where the schema's parts define themselves. */
export const builder = new SchemaBuilder<SchemaTypes>({
  // The errors plugin comes first, so that a missing credential becomes a result too.
  plugins: [ErrorsPlugin, CountErrors, RequireCredential, RelayPlugin, ResponseMeter],
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    defaultTypes: [Unauthenticated, Forbidden, InvalidInput],
    defaultUnionOptions: { name: ({ fieldName }) => `${fieldName.charAt(0).toUpperCase()}${fieldName.slice(1)}Result` },
  },
  // `node` and `nodes` are fields like others here, closed by default.
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { description: 'An object with a globally unique ID.' },
    idFieldOptions: { description: 'The globally unique ID.' },
  },
});

builder.queryType({ description: 'Root of all read operations.' });
builder.mutationType({
  description: 'Root of all write operations. Each returns a payload or one of the expected errors.',
});
