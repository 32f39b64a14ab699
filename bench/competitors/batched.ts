// What an expert would write without GraphQL: Fastify, hand-written SQL, and look-ups that are batched across requests by hand.
// It takes the requests of `gql-token` as they are, uses the token of their variables, and ignores the document.
import { fastify } from 'fastify';
import { findCaller, groupByProvidedId, groupByToken } from './support/batched.ts';
import { type Caller, getOrCreate } from './support/by-hand.ts';
import { announce } from './support/server.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: string;
  }
  interface FastifyRequest {
    caller: Caller;
  }
}

const app = fastify();
app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
app.decorateRequest('caller', null as unknown as Caller);
app.addHook('onRequest', async (request, reply) => {
  const caller = await findCaller(request.headers.authorization, request.routeOptions.config.scope ?? 'groups:write');
  if (!caller) return reply.code(401).send({ success: 0, code: 'UNAUTHENTICATED' });
  request.caller = caller;
});

const string = { type: 'string', minLength: 1, maxLength: 255 } as const;
const object = { type: 'object', nullable: true, additionalProperties: true } as const;
const objectOf = (properties: Record<string, object>) => ({ type: 'object', nullable: true, properties });

const tokenSchema = {
  body: {
    type: 'object',
    required: ['variables'],
    properties: { variables: { type: 'object', required: ['token'], properties: { token: string } } },
  },
  response: {
    200: objectOf({
      data: objectOf({
        userGroup: objectOf({
          teamId: { type: 'integer' },
          providedId: string,
          name: string,
          token: string,
          environmentTag: { type: 'string', nullable: true },
        }),
      }),
    }),
  },
};

app.post<{ Body: { variables: { token: string } } }>(
  '/graphql',
  { schema: tokenSchema, config: { scope: 'groups:read' } },
  async ({ caller, body }) => {
    const group = await groupByToken(body.variables.token, caller);
    if (!group) return { data: { userGroup: null } };
    const { team_id: teamId, provided_id: providedId, name, token, environment_tag } = group;
    return { data: { userGroup: { teamId, providedId, name, token, environmentTag: environment_tag?.toUpperCase() } } };
  },
);

const getSchema = {
  body: {
    type: 'object',
    required: ['user_group_id'],
    properties: { user_group_id: string, name: string, mapping: object, properties: object },
  },
  response: {
    200: objectOf({
      success: { type: 'integer' },
      new_user_group: { type: 'boolean' },
      user_group: objectOf({
        team_id: { type: 'integer' },
        token: string,
        name: string,
        provided_id: string,
        properties: object,
      }),
    }),
  },
};

app.route<{ Body: { user_group_id: string; name?: string; properties?: unknown; mapping?: unknown } }>({
  method: 'GET',
  url: '/api/user',
  exposeHeadRoute: false,
  schema: getSchema,
  handler: async ({ caller, body }, reply) => {
    const existing = await groupByProvidedId(body.user_group_id, caller);
    if (existing) return { success: 1, new_user_group: false, user_group: existing };
    const found = await getOrCreate(caller, body.user_group_id, body);
    if (!found) return reply.code(409).send({ success: 0, code: 'CONFLICT' });
    return { success: 1, new_user_group: found.created, user_group: found.group };
  },
});

announce(await app.listen({ port: 0, host: '127.0.0.1' }));
