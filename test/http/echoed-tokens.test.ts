import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueToken } from '../../src/tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const token = issueToken('userGroup');
const byTeamId = 'query ($id: Int) { userGroup(by: { teamId: $id }) { name } }';

/** Mistakes with a token in an unexpected place. Clients log the errors that they get. */
const requests: Record<string, [method: string, path: string, body: unknown, headers?: Record<string, string>]> = {
  'a token without quotes': ['POST', '/api/user', `{"current_token": ${token}}`],
  'a token as a key': ['PUT', '/api/user', { user_group_id: 'a', mapping: { [token]: 1 } }],
  'a token as a media type': ['PUT', '/api/user', {}, { 'content-type': token }],
  'a token in a path': ['GET', `/api/user/${token}`, undefined],
  'a token as a variable of another type': ['POST', '/graphql', { query: byTeamId, variables: { id: token } }],
  'a token as a field': ['POST', '/graphql', { query: `{ ${token} }` }],
  'a token that ends too early': ['POST', '/graphql', { query: `{ userGroup(by: { token: "${token}` }],
};

test.each(Object.entries(requests))('the error does not repeat the token: %s', async (_, [method, path, body, headers = {}]) => {
  // Twice: a valid document is executed in another way from the second time on.
  for (const _time of [1, 2]) {
    const { text } = await gateway.send(method, path, { body, headers });
    expect(text).toMatch(/"code":"[A-Z_]+"/);
    expect(text).not.toContain(token.slice(0, 10));
  }
});
