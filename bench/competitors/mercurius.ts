// Mercurius with JIT and hand-written SQL, as its documentation shows: schema, resolvers, a context for the caller.
import { fastify } from 'fastify';
import mercurius from 'mercurius';
import { type Caller, findCaller, type Group, groupByToken, groupsBefore } from './support/by-hand.ts';
import { announce } from './support/server.ts';

declare module 'mercurius' {
  interface MercuriusContext {
    caller: Caller;
  }
}

const schema = `
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
    userGroups(first: Int! = 20, after: String!): UserGroupConnection
  }
`;

const resolvers = {
  UserGroup: {
    teamId: (group: Group) => group.team_id,
    providedId: (group: Group) => group.provided_id,
    environmentTag: (group: Group) => group.environment_tag?.toUpperCase(),
  },
  Query: {
    userGroup: (_: unknown, { by }: { by: { token?: string } }, { caller }: { caller: Caller }) =>
      by.token ? groupByToken(by.token, caller) : null,
    userGroups: async (_: unknown, { first, after }: { first: number; after: string }, { caller }: { caller: Caller }) => ({
      nodes: await groupsBefore(after, Math.min(first, 100), caller),
    }),
  },
};

const app = fastify();
app.register(mercurius, {
  schema,
  resolvers: resolvers as unknown as NonNullable<Parameters<typeof mercurius>[1]['resolvers']>,
  jit: 1,
  context: async (request) => {
    const caller = await findCaller(request.headers.authorization, 'groups:read');
    if (!caller) throw new mercurius.ErrorWithProps('The API token is not accepted.', { code: 'UNAUTHENTICATED' }, 401);
    return { caller };
  },
});

announce(await app.listen({ port: 0, host: '127.0.0.1' }));
