import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { openApiDocument, validatorOf } from '../../support/openapi.ts';
import { operationsOf } from '../../support/openapi-document.ts';
import { contentOf } from '../../support/openapi-examples.ts';

let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = (await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } })).json.user_group.token;
});
afterAll(() => gateway.close());

const longest = 'x'.repeat(255);
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, 'd']));
const values: Record<string, readonly unknown[]> = {
  user_group_id: ['acme', longest, `${longest}x`, '😀'.repeat(255), '😀'.repeat(256), '', 5, null, undefined, []],
  name: ['n', longest, `${longest}x`, '', 5, null, undefined, {}],
  mapping: [{}, { '': '' }, { a: 5 }, { a: `${longest}x` }, { [`${longest}x`]: '' }, entries(1_000), entries(1_001), [], null],
  properties: [{}, { a: [1, null] }, [], 'a', 5, null],
  current_token: ['', 5, null, undefined, `${longest}x`],
};

test.each(operationsOf(openApiDocument.paths['/api/user'] ?? {}))(
  '%s is accepted exactly when openapi.yaml permits it',
  async (method, { requestBody, parameters = [] }) => {
    const { properties = {}, required = [] } = contentOf(requestBody)?.schema ?? {};
    const ofBody = Object.entries(properties).map(([name, schema]) => {
      return { name, isRequired: required.includes(name), permits: (value: unknown) => validatorOf(schema)(value) === true };
    });
    // A parameter cannot be null; the description says that an optional member in a body may be.
    const ofQuery = parameters.map(({ name, required: isRequired = false, schema: { contentSchema, ...schema } }) => {
      const permits = (value: unknown) => (value === null ? !isRequired : validatorOf(contentSchema ?? schema)(value) === true);
      return { name, isRequired, permits };
    });
    const members = requestBody ? ofBody : ofQuery;
    expect(members.length).toBeGreaterThan(0);
    const differences: unknown[] = [];
    for (const { name, isRequired, permits } of members) {
      for (const value of values[name] ?? []) {
        const own = method === 'POST' ? { current_token: token } : { user_group_id: 'acme' };
        const { status, json } = await gateway.send(method, '/api/user', { body: { ...own, [name]: value } });
        const isPermitted = value === undefined ? !isRequired : permits(value);
        if ((status === 200 || status === 404) !== isPermitted) differences.push([name, value, status, json]);
      }
    }
    expect(differences).toEqual([]);
  },
);
