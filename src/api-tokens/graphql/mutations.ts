import type { Caller } from '../../caller.ts';
import { InvalidInput, NotFound } from '../../errors.ts';
import type { ApiToken } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { EnvironmentTagType } from '../../graphql/scalars.ts';
import {
  type IssuedApiToken,
  issueApiToken,
  maxOverlapSeconds,
  revokeApiToken,
  rotateApiToken,
  updateApiToken,
} from '../api-tokens.ts';
import { maxApiTokenRateLimit } from '../rules.ts';
import { ApiTokenType, apiTokenNumberOf, ScopeType } from './type.ts';

const idDescription = 'The globally unique ID of the API token.';
const rateLimitDescription = `How many requests may be sent with it in 60 seconds: 1 to ${maxApiTokenRateLimit}.`;
const nameDescription = 'A label that says what it is for: 1 to 255 characters, no control characters.';

/** Who changes API tokens, of every environment. @throws Unauthenticated, Forbidden without `admin`. */
function authorOf(caller: Caller): Caller['author'] {
  caller.require('admin');
  return caller.author;
}

/** @throws InvalidInput when it is not the ID of an API token. */
function requireNumber(id: string): number {
  const number = apiTokenNumberOf(id);
  if (number !== undefined) return number;
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
    resolve: (_, { input }, { services: { db }, caller }) => {
      const author = authorOf(caller);
      const { environmentTag = caller.environmentTag, expiresAt = null, ...rest } = input;
      return issueApiToken(db, { ...rest, environmentTag, expiresAt }, author);
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
    resolve: (_, { input }, { services: { db }, caller }) => {
      const author = authorOf(caller);
      return rotateApiToken(db, requireNumber(input.id), input.overlapSeconds ?? 0, author);
    },
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
    resolve: async (_, { input: { id, ...changes } }, { services: { db }, caller }) => {
      const author = authorOf(caller);
      return { apiToken: await updateApiToken(db, requireNumber(id), changes, author) };
    },
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
    resolve: async (_, { input }, { services: { db }, caller }) => {
      const author = authorOf(caller);
      return { apiToken: await revokeApiToken(db, requireNumber(input.id), author) };
    },
  }),
);
