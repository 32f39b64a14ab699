import SchemaBuilder from '@pothos/core';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import { Forbidden, InvalidInput, Unauthenticated } from '../../domain/errors.ts';
import type { Json } from '../../domain/limits.ts';
import type { GraphQLContext } from './context.ts';
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
  // The errors come first, so that a refusal for want of a credential becomes a result too.
  plugins: [ErrorsPlugin, RequireCredential, RelayPlugin, ResponseMeter],
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
    nodeTypeOptions: { description: 'A thing that has an id of its own among all things.' },
    idFieldOptions: { description: 'Identifies the thing among all nodes.' },
  },
});

builder.queryType({ description: 'What can be asked.' });
builder.mutationType({
  description: 'What can be changed. Each answer is a result or one of the errors that are to be expected.',
});
