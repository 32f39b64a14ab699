// graphql-yoga with Pothos and its Prisma plugin, as their guides show: objects from models, a context for the caller.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import { GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { hashOf, tokenOf } from '../encryption.ts';
import type PrismaTypes from '../generated/pothos.ts';
import { getDatamodel } from '../generated/pothos.ts';
import { type Caller, findCaller, prisma } from './support/by-prisma.ts';
import { announce } from './support/server.ts';

const builder = new SchemaBuilder<{ PrismaTypes: PrismaTypes; Context: { caller: Caller } }>({
  plugins: [PrismaPlugin],
  prisma: { client: prisma, dmmf: getDatamodel(), onUnusedQuery: null },
});

const EnvironmentTag = builder.enumType('EnvironmentTag', {
  values: { CUSTOMER: { value: 'Customer' }, TESTING: { value: 'Testing' } } as const,
});

const UserGroupBy = builder.inputType('UserGroupBy', {
  isOneOf: true,
  fields: (t) => ({ teamId: t.int(), providedId: t.string(), token: t.string() }),
});

builder.prismaObject('UserGroup', {
  fields: (t) => ({
    teamId: t.exposeInt('teamId'),
    providedId: t.exposeString('providedId'),
    name: t.exposeString('name'),
    token: t.string({
      select: { tokenHash: true, tokenEncrypted: true },
      resolve: ({ tokenHash, tokenEncrypted }) =>
        tokenOf({ token_hash: Buffer.from(tokenHash), token_encrypted: Buffer.from(tokenEncrypted) }),
    }),
    environmentTag: t.expose('environmentTag', { type: EnvironmentTag, nullable: true }),
  }),
});

builder.queryType({
  fields: (t) => ({
    userGroup: t.prismaField({
      type: 'UserGroup',
      nullable: true,
      args: { by: t.arg({ type: UserGroupBy, required: true }) },
      resolve: (query, _, { by }, { caller: { environmentTag } }) =>
        by.token ? prisma.userGroup.findUnique({ ...query, where: { tokenHash: hashOf(by.token), environmentTag } }) : null,
    }),
  }),
});

const yoga = createYoga({
  schema: builder.toSchema(),
  context: async ({ request }) => {
    const caller = await findCaller(request.headers.get('authorization'), 'groups:read');
    if (!caller) throw new GraphQLError('The API token is not accepted.', { extensions: { http: { status: 401 } } });
    return { caller };
  },
});

const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
