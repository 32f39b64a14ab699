import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openApiDocument } from '../support/openapi.ts';
import { operationsOf } from '../support/openapi-document.ts';
import { comparable, contentOf, errorExamples } from '../support/openapi-examples.ts';

const run = promisify(execFile);

let gateway: TestGateway;
let variables: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  const scopes = ['groups:write', 'groups:read', 'embed:sign', 'audit:read', 'metrics:read'] as const;
  variables = {
    GATEWAY: gateway.url,
    API_TOKEN: (await gateway.issue({ scopes: [...scopes] })).secret,
    READ_ONLY_API_TOKEN: (await gateway.issue({ scopes: ['groups:read'] })).secret,
    UNTAGGED_API_TOKEN: (await gateway.issue({ environment: null })).secret,
    USER_GROUP_TOKEN: 'none yet',
  };
});
afterAll(() => gateway.close());

/** Runs code of an example, and returns what it prints. */
const execute = async (code: string) => (await run('sh', ['-c', code], { env: { ...process.env, ...variables } })).stdout;

// They apply in this order, to a gateway without user groups.
const steps = Object.entries(openApiDocument.paths).flatMap(([path, operations]) =>
  operationsOf(operations).flatMap(([method, { 'x-curl': own, responses }]) => {
    const { example, examples = {} } = contentOf(responses['200']) ?? {};
    const named = Object.values(examples).map(({ summary, value, 'x-curl': code = own }) => ({ summary, code, value }));
    const all = named.length > 0 ? named : [{ summary: '', code: own, value: example }];
    return all.map(({ summary, ...step }) => ({ name: `${method} ${path}: ${summary}`, ...step }));
  }),
);

test.each(steps)('the example of $name gets its response', async ({ code, value }) => {
  const text = await execute(code);
  if (value === undefined) return expect(text).toContain('# TYPE gateway_');
  expect(comparable(JSON.parse(text))).toEqual(comparable(value));
  const { user_group: group } = JSON.parse(text) as { user_group?: { provided_id: string; token: string } };
  if (group?.provided_id === 'acme') variables['USER_GROUP_TOKEN'] = group.token;
});

const errors = errorExamples.flatMap(([code, { value, 'x-curl': command }]) => (command ? [{ code, value, command }] : []));

test.each(errors)('the command of $code gets the response', async ({ value, command }) => {
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  const withStatus = command.replaceAll('curl -sS', String.raw`curl -sS -w '\n%{http_code}'`);
  const [text = '', status] = (await execute(withStatus)).split('\n');
  expect(comparable(JSON.parse(text))).toEqual(comparable(value));
  expect(Number(status)).toBe((value as { status: number }).status);
});
