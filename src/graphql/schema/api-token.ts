import { type Credential, describeScope, isScope, scopeNames } from '../../domain/caller.ts';
import { Unauthenticated } from '../../domain/errors.ts';
import type { ApiToken } from '../../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { EnvironmentTagType } from './environment-tag.ts';
import { defineNamedEnum } from './named-enum.ts';

/** A scope of API tokens. */
export const ScopeType = defineNamedEnum('Scope', 'What an API token may do.', scopeNames, describeScope);

/** An API token; one that authenticated a request has no time of revocation. */
export const ApiTokenType = builder.objectRef<Credential & Partial<Pick<ApiToken, 'revokedAt'>>>('ApiToken').implement({
  description: 'An API token, the credential of a caller, without its secret.',
  fields: (t) => ({
    id: t.id({
      description: 'The number that identifies it, also in the commands `token list`, `token rotate` and `token revoke`.',
      resolve: ({ id }) => String(id),
    }),
    name: t.exposeString('name', { description: 'A label that says what it is for.' }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment it has access to; null means untagged.',
    }),
    scopes: t.field({
      type: [ScopeType],
      description: 'The scopes it has.',
      // A newer version of the gateway may have issued it with others, which permit nothing here.
      resolve: ({ scopes }) => scopes.filter(isScope),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was issued.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null means never.',
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
  }),
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
