import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import { type ErrorCode, errorCatalog } from '../error-catalog.ts';
import {
  Conflict,
  Forbidden,
  type GatewayError,
  InvalidInput,
  type Issue,
  NotFound,
  Suspended,
  Unauthenticated,
} from '../errors.ts';
import { builder, type GraphQLContext } from './builder.ts';
import type { FieldCost } from './limits.ts';

/** The type of error codes. */
export const ErrorCodeType = builder.enumType('ErrorCode', {
  description: 'Every error code, over GraphQL and REST.',
  values: Object.fromEntries(
    Object.entries(errorCatalog).map(([code, { title }]) => [code, { value: code as ErrorCode, description: `${title}.` }]),
  ) as Record<ErrorCode, { value: ErrorCode; description: string }>,
});

/** What every error has. */
export const ErrorInterface = builder.interfaceRef<GatewayError>('Error').implement({
  description: 'An expected failure.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeType, description: 'The kind of failure.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'A human-readable message: what happened and how to fix it.' }),
  }),
});

const IssueType = builder.objectRef<Issue>('Issue').implement({
  description: 'One problem with an input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'The path from the root of the input to the problem: field and member names, and list indexes from 0.',
      resolve: ({ path }) => path.map(String),
    }),
    message: t.exposeString('message', { description: 'What is wrong and what is expected.' }),
  }),
});

builder.objectType(InvalidInput, {
  name: 'InvalidInput',
  description: 'The input is not valid. Nothing was changed.',
  interfaces: [ErrorInterface],
  isTypeOf: (value) => value instanceof InvalidInput,
  fields: (t) => ({
    issues: t.field({
      type: [IssueType],
      description: 'Every problem that was found, up to 10.',
      extensions: { listSize: () => 2 } satisfies FieldCost,
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

const plainErrors = [
  [Unauthenticated, 'Unauthenticated', 'No API token was sent.'],
  [Forbidden, 'Forbidden', 'The API token lacks a required scope.'],
  [NotFound, 'NotFound', 'No such object, or the API token has no access to it.'],
  [Conflict, 'Conflict', 'Conflicts with an existing user group. Nothing was changed.'],
  [Suspended, 'Suspended', 'The user group is suspended: its tokens identify nothing.'],
] as const;

for (const [type, name, description] of plainErrors) {
  builder.objectType(type, { name, description, interfaces: [ErrorInterface], isTypeOf: (value) => value instanceof type });
}

/** Has each mutation that returns an expected error note it in the context, and count it for the metrics. */
export function noteRefusals(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = async (source, args, context: GraphQLContext, info) => {
      const result: unknown = await resolve(source, args, context, info);
      const { code } = Object(result) as { code?: unknown }; // the errors plugin returns proxies of errors
      if (typeof code === 'string' && Object.hasOwn(errorCatalog, code)) {
        context.outcome = 'refused';
        context.http.countError(code as ErrorCode);
      }
      return result;
    };
  }
  return schema;
}
