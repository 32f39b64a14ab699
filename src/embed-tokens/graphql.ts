import { NotFound, Suspended } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import type { FieldCost } from '../graphql/limits.ts';
import { paths } from '../http/paths.ts';
import { userGroupLimits } from '../user-groups/attributes.ts';
import { selector, UserGroupByInput, UserGroupType } from '../user-groups/graphql/type.ts';
import { createEmbedToken, revokeEmbedTokens } from './embed-tokens.ts';
import { defaultEmbedTokenSeconds, embedTokenLimits } from './rules.ts';

const { minEmbedTokenSeconds, maxEmbedTokenSeconds, maxEmbedTokenBytes, maxEmbedTokenResources } = embedTokenLimits;
const { maxTextLength } = userGroupLimits;
const textLength = `1 to ${maxTextLength} characters`;

const CreateEmbedTokenPayload = builder.objectRef<{ token: string; expiresAt: Date }>('CreateEmbedTokenPayload').implement({
  description: 'The new embed token.',
  fields: (t) => ({
    token: t.exposeString('token', {
      description:
        `The embed token: a JWT signed with EdDSA. \`${paths.jwks}\` has the public keys; \`${paths.introspection}\` checks it ` +
        'against the database.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
  }),
});

const EmbedViewerInput = builder.inputType('EmbedViewerInput', {
  description: 'Who views within the group.',
  fields: (t) => ({
    id: t.string({ required: true, description: `Your own identifier for the viewer: ${textLength}.` }),
    name: t.string({ description: `The name of the viewer: ${textLength}.` }),
    email: t.string({ description: `The email address of the viewer: ${textLength}.` }),
    attributes: t.field({ type: 'JSON', description: 'More about the viewer: a JSON object.' }),
  }),
});

/** A signature, and properties that may be large. */
const signingCost = { cost: () => 100 } satisfies FieldCost;

builder.mutationField('createEmbedToken', (t) =>
  t.field({
    type: CreateEmbedTokenPayload,
    nullable: true,
    errors: { types: [NotFound, Suspended], union: { description: 'The new embed token, or an error.' } },
    extensions: signingCost,
    description:
      'Creates a signed token that identifies a group to others until it expires. They verify it without a request to this API. ' +
      'The token has at most ' +
      `${maxEmbedTokenBytes} bytes, so that it fits into a header. Requires the scope embed:sign, which includes finding the group.`,
    args: {
      input: t.arg({
        required: true,
        description: 'The group, and what the token contains.',
        type: builder.inputType('CreateEmbedTokenInput', {
          description: 'The group, and what the token contains.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Selects the group.' }),
            audience: field.string({
              description: `For whom the token is meant, its claim aud: ${textLength}. Omitted by default.`,
            }),
            expiresInSeconds: field.int({
              defaultValue: defaultEmbedTokenSeconds,
              description: `How long the token is valid, in seconds: ${minEmbedTokenSeconds} to ${maxEmbedTokenSeconds}.`,
            }),
            includeProperties: field.boolean({
              defaultValue: false,
              description: 'Whether the token contains the properties of the group, readable by everyone who has it.',
            }),
            viewer: field.field({
              type: EmbedViewerInput,
              description: 'Who views within the group, the claim viewer. Readable by everyone who has the token.',
            }),
            resources: field.stringList({
              description: `What the token opens, by your own names, the claim resources: at most ${maxEmbedTokenResources}, of ${textLength}.`,
            }),
            origin: field.string({
              description:
                'The origin of the page that embeds, as browsers send it, the claim origin: https://app.example.com, for example.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input: { by, ...input } }, context) => createEmbedToken(context, selector(by), input),
  }),
);

const RevokeEmbedTokensPayload = builder.objectRef<{ userGroup: UserGroup }>('RevokeEmbedTokensPayload').implement({
  description: 'The group whose embed tokens were revoked.',
  fields: (t) => ({
    userGroup: t.expose('userGroup', { type: UserGroupType, description: 'The group whose embed tokens were revoked.' }),
  }),
});

builder.mutationField('revokeEmbedTokens', (t) =>
  t.field({
    type: RevokeEmbedTokensPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The group whose embed tokens were revoked, or an error.' } },
    description:
      'Revokes every embed token that a group, or one of its viewers, has now: introspection finds them inactive from the next ' +
      'request on. Who only checks signatures accepts them until they expire. Tokens that are created later are not affected. ' +
      'Requires the scope embed:sign.',
    args: {
      input: t.arg({
        required: true,
        description: 'Whose embed tokens are revoked.',
        type: builder.inputType('RevokeEmbedTokensInput', {
          description: 'Whose embed tokens are revoked.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Selects the group.' }),
            viewerId: field.string({
              description: `The id of the viewer: ${textLength}. Defaults to all embed tokens of the group, with a viewer and without.`,
            }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { by, viewerId } }, context) => ({
      userGroup: await revokeEmbedTokens(context, selector(by), viewerId),
    }),
  }),
);
