// Apollo Server on Express with Prisma, as their guides show: type definitions, resolvers, a context for the caller.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';
import { GraphQLError } from 'graphql';
import { type Caller, findCaller, prisma } from './support/by-prisma.ts';
import { announce } from './support/server.ts';

const typeDefs = `#graphql
  enum EnvironmentTag { CUSTOMER TESTING }
  input UserGroupBy @oneOf { teamId: Int providedId: String token: String }
  type UserGroup {
    teamId: Int!
    providedId: String!
    name: String!
    token: String!
    environmentTag: EnvironmentTag
  }
  type Query {
    userGroup(by: UserGroupBy!): UserGroup
  }
`;

const resolvers = {
  EnvironmentTag: { CUSTOMER: 'Customer', TESTING: 'Testing' },
  Query: {
    userGroup: (_: unknown, { by }: { by: { token?: string } }, { caller: { environmentTag } }: { caller: Caller }) =>
      by.token ? prisma.userGroup.findUnique({ where: { token: by.token, environmentTag } }) : null,
  },
};

const app = express();
const httpServer = createServer(app);
const server = new ApolloServer<{ caller: Caller }>({
  typeDefs,
  resolvers,
  plugins: [ApolloServerPluginDrainHttpServer({ httpServer })],
});
await server.start();

app.use(
  '/graphql',
  express.json(),
  expressMiddleware(server, {
    context: async ({ req }) => {
      const caller = await findCaller(req.headers.authorization, 'groups:read');
      if (!caller) {
        const extensions = { code: 'UNAUTHENTICATED', http: { status: 401 } };
        throw new GraphQLError('The API token is not accepted.', { extensions });
      }
      return { caller };
    },
  }),
);
httpServer.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`));
