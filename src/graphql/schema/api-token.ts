import { type Credential, describeScope, scopeNames } from '../../domain/caller.ts';
import { Unauthenticated } from '../../domain/errors.ts';
import { builder } from './builder.ts';
import { EnvironmentTagType } from './environment-tag.ts';

const ApiTokenType = builder.objectRef<Credential>('ApiToken').implement({
  description: 'A caller’s credential, without its secret.',
  fields: (t) => ({
    id: t.id({ description: 'The number by which the operator lists and revokes it.', resolve: ({ id }) => String(id) }),
    name: t.exposeString('name', { description: 'What it is for, in its owner’s words.' }),
    environmentTag: t.expose('environmentTag', {
      type: EnvironmentTagType,
      nullable: true,
      description: 'The environment that it works in; null means untagged.',
    }),
    scopes: t.exposeStringList('scopes', {
      description: `What it allows:\n${scopeNames.map((scope) => `- \`${scope}\`: ${describeScope(scope)}`).join('\n')}`,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was issued.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'From when on it is refused; null means never.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last accepted before, to within some seconds.',
    }),
  }),
});

builder.queryField('caller', (t) =>
  t.field({
    type: ApiTokenType,
    nullable: true,
    description: 'The API token in use.',
    resolve: (_, _arguments, { caller: { apiToken } }) => {
      if (!apiToken) throw new Unauthenticated('There is no API token in use.');
      return apiToken;
    },
  }),
);
