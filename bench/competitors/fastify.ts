// Fastify with hand-written SQL, as its documentation recommends: a schema for requests, one for responses, a hook for the
// caller.
import { fastify } from 'fastify';
import { type Caller, type Fields, findCaller, getOrCreate, rotate, update } from './support/by-hand.ts';
import { announce } from './support/server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

const app = fastify();
app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
app.decorateRequest('caller', null as unknown as Caller);
app.addHook('onRequest', async (request, reply) => {
  const caller = await findCaller(request.headers.authorization, 'groups:write');
  if (!caller) return reply.code(401).send({ success: 0, code: 'UNAUTHENTICATED' });
  request.caller = caller;
});

const string = { type: 'string', minLength: 1, maxLength: 255 } as const;
const object = { type: 'object', nullable: true, additionalProperties: true } as const;
const responseSchema = (userGroup: Record<string, object>, others: Record<string, object> = {}) => ({
  200: {
    type: 'object',
    properties: {
      success: { type: 'integer' },
      ...others,
      user_group: { type: 'object', properties: userGroup },
    },
  },
});
const shared = { team_id: { type: 'integer' }, token: string, name: string, provided_id: string };

const getSchema = {
  body: {
    type: 'object',
    required: ['user_group_id'],
    properties: { user_group_id: string, name: string, mapping: object, properties: object },
  },
  response: responseSchema({ ...shared, properties: object }, { new_user_group: { type: 'boolean' } }),
};

app.route<{ Body: Fields & { user_group_id: string } }>({
  method: 'GET',
  url: '/api/user',
  exposeHeadRoute: false,
  schema: getSchema,
  handler: async ({ caller, body }, reply) => {
    const found = await getOrCreate(caller, body.user_group_id, body);
    if (!found) return reply.code(409).send({ success: 0, code: 'CONFLICT' });
    return { success: 1, new_user_group: found.created, user_group: found.group };
  },
});

const rotateSchema = {
  body: { type: 'object', required: ['current_token'], properties: { current_token: string } },
  response: responseSchema({ ...shared, api_environment_tag: { type: 'string', nullable: true } }),
};

app.post<{ Body: { current_token: string } }>('/api/user', { schema: rotateSchema }, async ({ caller, body }, reply) => {
  const group = await rotate(caller, body.current_token);
  if (!group) return reply.code(404).send({ success: 0, code: 'NOT_FOUND' });
  return { success: 1, user_group: { ...group, api_environment_tag: group.environment_tag } };
});

const updateSchema = {
  body: {
    type: 'object',
    required: ['user_group_id'],
    properties: { user_group_id: string, name: string, mapping: object, properties: object },
  },
  response: responseSchema({ ...shared, properties: object, api_environment_tag: { type: 'string', nullable: true } }),
};

app.put<{ Body: Fields & { user_group_id: string } }>('/api/user', { schema: updateSchema }, async ({ caller, body }, reply) => {
  const group = await update(caller, body.user_group_id, body);
  if (!group) return reply.code(404).send({ success: 0, code: 'NOT_FOUND' });
  return { success: 1, user_group: { ...group, api_environment_tag: group.environment_tag } };
});

announce(await app.listen({ port: 0, host: '127.0.0.1' }));
