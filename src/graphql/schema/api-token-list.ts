import { manageApiTokens } from '../../domain/api-token-management.ts';
import { ApiTokenType } from './api-token.ts';
import { builder } from './builder.ts';
import { defineConnection, pageArguments, pageSize } from './connection.ts';
import type { FieldCost } from './field-cost.ts';

builder.queryField('apiTokens', (t) =>
  t.field({
    type: defineConnection('ApiToken', ApiTokenType, 'API tokens'),
    nullable: true,
    extensions: { pageSize } satisfies FieldCost,
    description:
      'Lists the API tokens of every environment, the newest first, without their secrets. Requires the scope admin. ' +
      '`{ apiTokens { nodes { id name environmentTag scopes expiresAt lastUsedAt } } }`',
    args: {
      ...pageArguments,
      includeRevoked: t.arg.boolean({
        defaultValue: false,
        description: 'Whether to list revoked API tokens too. Expired ones are listed in any case.',
      }),
    },
    resolve: (_, args, { services, caller }) => manageApiTokens(services, caller).list(args),
  }),
);
