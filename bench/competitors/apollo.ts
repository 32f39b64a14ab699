// Apollo Server with Prisma, as their guides show: type definitions, resolvers, a context for the caller.
// Its own HTTP server, not Express, because it is the faster of the two.
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { GraphQLError } from 'graphql';
import { hashOf, tokenOf } from '../encryption.ts';
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
  type UserGroupConnection {
    nodes: [UserGroup!]!
  }
  type Query {
    userGroup(by: UserGroupBy!): UserGroup
    userGroups(first: Int! = 20): UserGroupConnection
  }
`;

const resolvers = {
  EnvironmentTag: { CUSTOMER: 'Customer', TESTING: 'Testing' },
  Query: {
    async userGroup(
      _: unknown,
      { by: { token } }: { by: { token?: string } },
      { caller: { environmentTag } }: { caller: Caller },
    ) {
      if (!token) return null;
      const group = await prisma.userGroup.findUnique({ where: { tokenHash: hashOf(token), environmentTag } });
      return group && { ...group, token };
    },
    async userGroups(_: unknown, { first }: { first: number }, { caller: { environmentTag } }: { caller: Caller }) {
      const groups = await prisma.userGroup.findMany({
        where: { environmentTag },
        orderBy: [{ createdAt: 'desc' }, { teamId: 'desc' }],
        take: Math.min(first, 100),
      });
      return {
        nodes: groups.map((group) => ({
          ...group,
          token: tokenOf({ token_hash: Buffer.from(group.tokenHash), token_encrypted: Buffer.from(group.tokenEncrypted) }),
        })),
      };
    },
  },
};

const server = new ApolloServer<{ caller: Caller }>({ typeDefs, resolvers });
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async ({ req }) => {
    const caller = await findCaller(req.headers.authorization, 'groups:read');
    if (!caller) {
      const extensions = { code: 'UNAUTHENTICATED', http: { status: 401 } };
      throw new GraphQLError('The API token is not accepted.', { extensions });
    }
    return { caller };
  },
});
announce(url);
