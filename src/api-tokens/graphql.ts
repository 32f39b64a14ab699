import type { Context } from '../app.ts';
import type { Credential } from '../caller.ts';
import { InvalidInput, NotFound, Unauthenticated } from '../errors.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { builder, defineNamedEnum, numberOfNode, readNumber } from '../graphql/builder.ts';
import { defineConnection, pageArguments, pageSize } from '../graphql/connection.ts';
import { defineNodeFinder } from '../graphql/nodes.ts';
import { EnvironmentTagType } from '../graphql/scalars.ts';
import type { FieldCost } from '../graphql/selection.ts';
import { describeScope, isScope, scopeNames } from '../scopes.ts';
import {
  createApiToken,
  findApiToken,
  type IssuedApiToken,
  listApiTokens,
  maxApiTokenRateLimit,
  maxOverlapSeconds,
  revokeApiToken,
  rotateApiToken,
  updateApiToken,
} from './api-tokens.ts';

/** A scope of API tokens. */
const ScopeType = defineNamedEnum('Scope', 'What an API token may do.', scopeNames, describeScope);

/** An API token; one that authenticated a request has no time of revocation. */
export const ApiTokenType = builder.objectRef<Credential & { readonly revokedAt?: Date | null }>('ApiToken');

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
      resolve: async ({ id, expiresAt }, _, { reads }) => expiresAt !== null && (await reads.apiToken(id))?.isExpired === true,
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

defineNodeFinder('ApiToken', {
  scope: 'admin',
  noun: 'an API token',
  find: (context, id) => findApiToken(context, readNumber(id)),
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
    resolve: (_, args, context) => listApiTokens(context, args),
  }),
);

const idDescription = 'The globally unique ID of the API token.';
const rateLimitDescription = `How many requests may be sent with it in 60 seconds: 1 to ${maxApiTokenRateLimit}.`;
const nameDescription = 'A label that says what it is for: 1 to 255 characters, no control characters.';

/** @throws Forbidden without `admin`: such a caller learns nothing about the ID. @throws InvalidInput when it is none. */
function requireNumber({ caller }: Context, id: string): number {
  caller.require('admin');
  const number = numberOfNode('ApiToken', id);
  if (number > 0) return number;
  throw new InvalidInput([{ path: ['id'], message: 'must be the ID of an API token, as `apiTokens` returns it.' }]);
}

const CreateApiTokenPayload = builder.objectRef<IssuedApiToken>('CreateApiTokenPayload').implement({
  description: 'The new API token with its secret.',
  fields: (t) => ({
    apiToken: t.expose('apiToken', { type: ApiTokenType, description: 'The new API token.' }),
    secret: t.exposeString('secret', {
      description: 'What a caller sends as `Authorization: Token …`. Shown only here: only its SHA-256 is stored.',
    }),
  }),
});

builder.mutationField('createApiToken', (t) =>
  t.field({
    type: CreateApiTokenPayload,
    nullable: true,
    errors: { types: [], union: { description: 'The new API token with its secret, or an error.' } },
    description:
      'Creates an API token. Each call creates another one, unless it repeats a request with an Idempotency-Key: if the response to ' +
      'one without is lost, revoke what it created, which `apiTokens` lists first. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The properties of the API token.',
        type: builder.inputType('CreateApiTokenInput', {
          description: 'The properties of an API token. Its environment, its scopes and its end cannot be changed later.',
          fields: (field) => ({
            name: field.string({ required: true, description: nameDescription }),
            environmentTag: field.field({
              type: EnvironmentTagType,
              description:
                'The environment that it has access to; null means untagged. Defaults to the environment of the API token that ' +
                'sends the request.',
            }),
            scopes: field.field({ type: [ScopeType], required: true, description: 'What it may do: at least one scope.' }),
            expiresAt: field.field({ type: 'DateTime', description: 'When it expires, in the future. Defaults to never.' }),
            expiresInSeconds: field.int({
              description:
                'After how many seconds it expires, from 1 on, by the clock of the database, which decides. Instead of `expiresAt`.',
            }),
            rateLimit: field.int({
              description: `${rateLimitDescription} Defaults to null, which means the setting RATE_LIMIT.`,
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, context) => {
      const { environmentTag = context.caller.environmentTag, expiresAt = null, ...rest } = input;
      return createApiToken(context, { ...rest, environmentTag, expiresAt });
    },
  }),
);

const RotateApiTokenPayload = builder.objectRef<IssuedApiToken>('RotateApiTokenPayload').implement({
  description: 'The API token with its new secret.',
  fields: (t) => ({
    apiToken: t.expose('apiToken', { type: ApiTokenType, description: 'The API token: all but its secret is unchanged.' }),
    secret: t.exposeString('secret', { description: 'The new secret. Shown only here: only its SHA-256 is stored.' }),
  }),
});

builder.mutationField('rotateApiToken', (t) =>
  t.field({
    type: RotateApiTokenPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The API token with its new secret, or an error.' } },
    description:
      'Replaces the secret of an API token. If several rotations replace the same secret at the same ' +
      'time, exactly one succeeds. The others are NotFound, and so are revoked and expired API tokens. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The API token.',
        type: builder.inputType('RotateApiTokenInput', {
          description: 'The API token whose secret is replaced, and how long the replaced one stays accepted.',
          fields: (field) => ({
            id: field.id({ required: true, description: idDescription }),
            overlapSeconds: field.int({
              defaultValue: 0,
              description:
                `How long the replaced secret stays accepted, in seconds: 0 to ${maxOverlapSeconds}. With 0, it and every secret ` +
                'that was replaced earlier are rejected from the next request on; otherwise those replaced earlier keep their ends.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, context) => rotateApiToken(context, requireNumber(context, input.id), input.overlapSeconds ?? 0),
  }),
);

const UpdateApiTokenPayload = builder.objectRef<{ apiToken: ApiToken }>('UpdateApiTokenPayload').implement({
  description: 'The changed API token.',
  fields: (t) => ({ apiToken: t.expose('apiToken', { type: ApiTokenType, description: 'The changed API token.' }) }),
});

builder.mutationField('updateApiToken', (t) =>
  t.field({
    type: UpdateApiTokenPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The changed API token, or an error.' } },
    description:
      'Changes the given properties of an API token. One that is not enabled is rejected from the next request on, on every ' +
      'instance, until it is enabled again. A revoked one is NotFound. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The API token, and its new properties.',
        type: builder.inputType('UpdateApiTokenInput', {
          description: 'The API token, and its new properties. What is omitted stays as it is.',
          fields: (field) => ({
            id: field.id({ required: true, description: idDescription }),
            name: field.string({ description: nameDescription }),
            rateLimit: field.int({ description: `${rateLimitDescription} null means the setting RATE_LIMIT.` }),
            enabled: field.boolean({ description: 'Whether it is accepted.' }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { id, ...changes } }, context) => ({
      apiToken: await updateApiToken(context, requireNumber(context, id), changes),
    }),
  }),
);

const RevokeApiTokenPayload = builder.objectRef<{ apiToken: ApiToken }>('RevokeApiTokenPayload').implement({
  description: 'The revoked API token.',
  fields: (t) => ({ apiToken: t.expose('apiToken', { type: ApiTokenType, description: 'The revoked API token.' }) }),
});

builder.mutationField('revokeApiToken', (t) =>
  t.field({
    type: RevokeApiTokenPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The revoked API token, or an error.' } },
    description:
      'Revokes an API token permanently: it is rejected from the next request on, on every instance, with each of its secrets. Revoking ' +
      'it again changes nothing. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The API token.',
        type: builder.inputType('RevokeApiTokenInput', {
          description: 'The API token to revoke.',
          fields: (field) => ({ id: field.id({ required: true, description: idDescription }) }),
        }),
      }),
    },
    resolve: async (_, { input }, context) => ({ apiToken: await revokeApiToken(context, requireNumber(context, input.id)) }),
  }),
);
