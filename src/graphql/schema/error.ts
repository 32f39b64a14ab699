import {
  Conflict,
  type ErrorCode,
  errorCatalog,
  Forbidden,
  type GatewayError,
  InvalidInput,
  type Issue,
  NotFound,
  Unauthenticated,
} from '../../domain/errors.ts';
import { builder } from './builder.ts';

const ErrorCodeType = builder.enumType('ErrorCode', {
  description: 'The closed list of error codes, the same over GraphQL and REST.',
  values: Object.fromEntries(
    Object.entries(errorCatalog).map(([code, { title }]) => [code, { value: code as ErrorCode, description: `${title}.` }]),
  ) as Record<ErrorCode, { value: ErrorCode; description: string }>,
});

const ErrorInterface = builder.interfaceRef<GatewayError>('Error').implement({
  description: 'A failure that is to be expected.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeType, description: 'What kind of failure it is.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'What happened and what to do, for people to read.' }),
  }),
});

const IssueType = builder.objectRef<Issue>('Issue').implement({
  description: 'One thing that is wrong with an input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'From the input’s root to the fault: field and member names, and list positions from 0.',
      resolve: ({ path }) => path.map(String),
    }),
    message: t.exposeString('message', { description: 'What is wrong and what is expected.' }),
  }),
});

builder.objectType(InvalidInput, {
  name: 'InvalidInput',
  description: 'The input breaks a rule. Nothing was changed.',
  interfaces: [ErrorInterface],
  isTypeOf: (value) => value instanceof InvalidInput,
  fields: (t) => ({
    issues: t.field({ type: [IssueType], description: 'Every fault that was found.', resolve: ({ issues }) => [...issues] }),
  }),
});

const plainErrors = [
  [Unauthenticated, 'Unauthenticated', 'Nobody is asking: there is no API token.'],
  [Forbidden, 'Forbidden', 'The API token lacks the scope that this needs.'],
  [NotFound, 'NotFound', 'There is no such thing, or none that the API token may see.'],
  [Conflict, 'Conflict', 'It would contradict what is stored. Nothing was changed.'],
] as const;

for (const [type, name, description] of plainErrors) {
  builder.objectType(type, { name, description, interfaces: [ErrorInterface], isTypeOf: (value) => value instanceof type });
}
