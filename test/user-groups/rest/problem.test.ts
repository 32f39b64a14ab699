import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const failures: Record<string, [status: number, send: () => Promise<Reply>]> = {
  INVALID_INPUT: [400, () => gateway.send('GET', '/api/user', { body: { user_group_id: 5 } })],
  BODY_REQUIRED: [400, () => gateway.send('GET', '/api/user')],
  MALFORMED_JSON: [400, () => gateway.send('GET', '/api/user', { body: '{' })],
  UNAUTHENTICATED: [401, () => gateway.send('GET', '/api/user', { token: null, body: { user_group_id: 'x' } })],
  FORBIDDEN: [
    403,
    async () => {
      const { secret: token } = await gateway.issue({ scopes: ['groups:read'] });
      return gateway.send('GET', '/api/user', { token, body: { user_group_id: 'x' } });
    },
  ],
  NOT_FOUND: [404, () => gateway.send('PUT', '/api/user', { body: { user_group_id: 'unknown' } })],
  METHOD_NOT_ALLOWED: [405, () => gateway.send('PATCH', '/api/user')],
  CONFLICT: [
    409,
    async () => {
      const { secret: token } = await gateway.issue({ environment: null });
      await gateway.send('GET', '/api/user', { body: { user_group_id: 'held' } });
      return gateway.send('GET', '/api/user', { token, body: { user_group_id: 'held' } });
    },
  ],
  PAYLOAD_TOO_LARGE: [413, () => gateway.send('GET', '/api/user', { body: ' '.repeat(1_048_577) })],
  UNSUPPORTED_MEDIA_TYPE: [415, () => gateway.send('GET', '/api/user', { body: 'x', headers: { 'content-type': 'text/plain' } })],
};

test.each(Object.entries(failures))('%s has exactly the members of a problem', async (code, [status, send]) => {
  const reply = await send();
  expect(reply.status).toBe(status);
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  expect(reply.json).toEqual({
    success: 0,
    type: expect.stringMatching(new RegExp(`/docs/errors/${code}$`)),
    title: expect.stringMatching(/\S/),
    status,
    detail: expect.stringMatching(/\S/),
    code,
    issues: code === 'INVALID_INPUT' ? [{ path: ['user_group_id'], message: expect.any(String) }] : [],
    request_id: reply.headers.get('x-request-id'),
  });
});

test('an unknown path gets a problem, too', async () => {
  const reply = await gateway.send('GET', '/nowhere');
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  expect(reply.json).toMatchObject({ success: 0, status: 404, request_id: reply.headers.get('x-request-id') });
});

describe('the request id', () => {
  const send = (id?: string) => gateway.send('GET', '/api/user', { headers: id === undefined ? {} : { 'x-request-id': id } });

  test.each(['a', 'req-1.2:3_4', 'x'.repeat(128)])('is the one that the caller sent: %s', async (id) => {
    const reply = await send(id);
    expect([reply.json.request_id, reply.headers.get('x-request-id')]).toEqual([id, id]);
  });

  test.each(['', 'x'.repeat(129), 'a b', '<script>', '"', 'ä'])('is generated when the caller’s is invalid: %s', async (id) => {
    expect((await send(id)).json.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is different for each request', async () => {
    expect((await send()).json.request_id).not.toBe((await send()).json.request_id);
  });

  test('is sent with successful responses, too', async () => {
    const reply = await gateway.send('GET', '/api/user?user_group_id=x', { headers: { 'x-request-id': 'mine' } });
    expect([reply.status, reply.headers.get('x-request-id')]).toEqual([200, 'mine']);
  });
});
