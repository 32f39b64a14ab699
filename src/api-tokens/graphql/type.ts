import type { Credential } from '../../caller.ts';
import { Unauthenticated } from '../../errors.ts';
import type { ApiToken } from '../../generated/prisma/client.ts';
import { builder, defineNamedEnum, numberOfNode, readNumber } from '../../graphql/builder.ts';
import { defineConnection, pageArguments, pageSize } from '../../graphql/connection.ts';
import { defineNodeFinder } from '../../graphql/nodes.ts';
import { EnvironmentTagType } from '../../graphql/scalars.ts';
import type { FieldCost } from '../../graphql/selection.ts';
import { describeScope, isScope, scopeNames } from '../../scopes.ts';
import { findApiToken, readApiTokens } from '../list.ts';

/** A scope of API tokens. */
export const ScopeType = defineNamedEnum('Scope', 'What an API token may do.', scopeNames, describeScope);

/** An API token; one that authenticated a request has no time of revocation. */
export const ApiTokenType = builder.objectRef<Credential & Partial<Pick<ApiToken, 'revokedAt'>>>('ApiToken');

builder.node(ApiTokenType, {
  description: 'An API token, the credential of a caller, without its secret.',
  id: { resolve: ({ id }) => String(id), description: 'The globally unique ID of the API token.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'scopes' in value,
  fields: (t) => ({
    number: t.exposeInt('id', {
      description: 'The number that the commands `token list`, `token rotate`, `token update` and `token revoke` show and take.',
    }),
    name: t.exposeString('name', { description: 'A label that says what it is for.' }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment it has access to; null means untagged.',
    }),
    scopes: t.field({
      type: [ScopeType],
      description:
        'The scopes it has. One that only a newer version of the gateway knows is missing on an instance of an older one, where it ' +
        'permits nothing.',
      // Not a failure: a token that cannot be listed could not be revoked.
      resolve: ({ scopes }) => scopes.filter(isScope),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was issued.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null means never.',
    }),
    expired: t.boolean({
      description: 'Whether it has expired, by the clock of the database, which decides: an expired one is rejected.',
      resolve: async ({ id, expiresAt }, _, { services: { db } }) =>
        expiresAt !== null && (await db.apiToken.findById(id))?.isExpired === true,
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used before this request, accurate to a few seconds.',
    }),
    revokedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null if it is not revoked.',
      resolve: ({ revokedAt }) => revokedAt,
    }),
    enabled: t.exposeBoolean('enabled', {
      description:
        'Whether it is accepted. One that is not is rejected like a revoked one, and accepted again once it is enabled.',
    }),
    rateLimit: t.exposeInt('rateLimit', {
      nullable: true,
      description:
        'How many requests may be sent with it in 60 seconds, to all instances together; null means the setting RATE_LIMIT of the ' +
        'gateway.',
    }),
  }),
});

/** The number of the API token with this globally unique ID; undefined when it is not the ID of one. */
export function apiTokenNumberOf(nodeId: string): number | undefined {
  return numberOfNode('ApiToken', nodeId);
}

defineNodeFinder('ApiToken', {
  scope: 'admin',
  noun: 'an API token',
  finder:
    () =>
    ({ services, caller }, id) => {
      const number = readNumber(id);
      return number === undefined ? undefined : findApiToken(services, caller, number);
    },
});

builder.queryField('caller', (t) =>
  t.field({
    type: ApiTokenType,
    nullable: true,
    description: 'The API token that authenticates this request.',
    resolve: (_, _arguments, { caller: { apiToken } }) => {
      if (!apiToken) throw new Unauthenticated('No API token was sent.');
      return apiToken;
    },
  }),
);

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
    resolve: (_, args, { services, caller }) => readApiTokens(services, caller, args),
  }),
);
