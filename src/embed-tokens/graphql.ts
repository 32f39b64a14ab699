import { NotFound, Suspended } from '../errors.ts';
import { builder } from '../graphql/builder.ts';
import type { FieldCost } from '../graphql/selection.ts';
import { paths } from '../http/paths.ts';
import { requireSelector, UserGroupByInput } from '../user-groups/graphql/type.ts';
import { userGroupLimits } from '../user-groups/values.ts';
import { createEmbedToken, defaultEmbedTokenSeconds, embedTokenLimits } from './embed-tokens.ts';

const { minEmbedTokenSeconds, maxEmbedTokenSeconds } = embedTokenLimits;

const CreateEmbedTokenPayload = builder.objectRef<{ token: string; expiresAt: Date }>('CreateEmbedTokenPayload').implement({
  description: 'The new embed token.',
  fields: (t) => ({
    token: t.exposeString('token', {
      description:
        `The embed token: a JWT signed with EdDSA. \`${paths.jwks}\` has the public keys; \`${paths.introspection}\` checks it ` +
        'against the database.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires. It cannot be revoked before.' }),
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
      'Requires the scope embed:sign, which includes finding the group.',
    args: {
      input: t.arg({
        required: true,
        description: 'The group, and what the token contains.',
        type: builder.inputType('CreateEmbedTokenInput', {
          description: 'The group, and what the token contains.',
          fields: (field) => ({
            by: field.field({ type: UserGroupByInput, required: true, description: 'Selects the group.' }),
            audience: field.string({
              description: `For whom the token is meant, its claim aud: 1 to ${userGroupLimits.maxTextLength} characters. Omitted by default.`,
            }),
            expiresInSeconds: field.int({
              defaultValue: defaultEmbedTokenSeconds,
              description: `How long the token is valid, in seconds: ${minEmbedTokenSeconds} to ${maxEmbedTokenSeconds}.`,
            }),
            includeProperties: field.boolean({
              defaultValue: false,
              description: 'Whether the token contains the properties of the group, readable by everyone who has it.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input: { by, ...input } }, { services, caller }) => {
      caller.require('embed:sign');
      return createEmbedToken(services, caller, requireSelector(by), input);
    },
  }),
);
