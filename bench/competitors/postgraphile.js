// PostGraphile on Node's HTTP server, as its documentation shows: the Amber preset on the database, a context for the caller,
// and a field with a plan for the look-up. In plain JavaScript, because its packages are only installed if Node.js is new enough.
import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { access, context, lambda } from 'postgraphile/grafast';
import { grafserv } from 'postgraphile/grafserv/node';
import { GraphQLError } from 'postgraphile/graphql';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { extendSchema } from 'postgraphile/utils';
import { hashOf, tokenOf } from '../encryption.ts';
import { findCaller, pool } from './support/by-hand.ts';
import { announce } from './support/server.ts';

const findGroup = extendSchema((build) => {
  const { user_group: userGroups } = build.pgResources;
  return {
    typeDefs: `
      input UserGroupBy @oneOf { teamId: Int providedId: String token: String }
      extend type Query {
        userGroup(by: UserGroupBy!): UserGroup
      }
      extend type UserGroup {
        token: String!
      }
    `,
    objects: {
      Query: {
        plans: {
          userGroup(_, { $by }) {
            const hash = lambda(access($by, 'token'), hashOf);
            const environment = context().get('caller').get('environment_tag');
            return userGroups.find({ token_hash: hash, environment_tag: environment }).single();
          },
        },
      },
      UserGroup: {
        plans: {
          token: ($group) =>
            lambda([$group.get('token_hash'), $group.get('token_encrypted')], ([token_hash, token_encrypted]) =>
              tokenOf({ token_hash, token_encrypted }),
            ),
        },
      },
    },
  };
});

/** The enum's values as every system writes them. */
const upperCaseEnums = {
  name: 'UpperCaseEnumsPlugin',
  version: '0.0.0',
  inflection: { replace: { enumValue: (previous, _options, value, codec) => previous(value, codec).toUpperCase() } },
};

const preset = {
  extends: [PostGraphileAmberPreset],
  plugins: [findGroup, upperCaseEnums],
  disablePlugins: ['NodePlugin'],
  pgServices: [makePgService({ pool, schemas: ['public'], pubsub: false })],
  grafast: {
    async context({ node }) {
      const caller = await findCaller(node?.req.headers.authorization, 'groups:read');
      if (!caller) throw new GraphQLError('The API token is not accepted.', { extensions: { statusCode: 401 } });
      return { caller };
    },
  },
};

const server = createServer();
await postgraphile(preset).createServ(grafserv).addTo(server);
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${server.address().port}`));
