import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openApiDocument } from '../support/openapi.ts';
import { operationsOf } from '../support/openapi-document.ts';
import { comparable, contentOf, errorExamples } from '../support/openapi-examples.ts';

const run = promisify(execFile);

/** The variables of the examples, for a gateway. */
async function variablesOf(gateway: TestGateway): Promise<Record<string, string>> {
  const all = await gateway.issue({ scopes: ['groups:write', 'groups:read', 'embed:sign', 'audit:read', 'metrics:read'] });
  const readOnly = await gateway.issue({ scopes: ['groups:read'] });
  const untagged = await gateway.issue({ environment: null });
  return {
    GATEWAY: gateway.url,
    API_TOKEN: all.secret,
    READ_ONLY_API_TOKEN: readOnly.secret,
    UNTAGGED_API_TOKEN: untagged.secret,
    USER_GROUP_TOKEN: 'none yet',
  };
}

/** Runs code of an example, and returns what it prints. Variables prevail over those of the system. */
async function execute(code: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables };
  return (await run('sh', ['-c', code], { env })).stdout;
}

describe('the examples of operations get their responses', () => {
  // They apply in this order, to a gateway without user groups.
  const steps = Object.entries(openApiDocument.paths).flatMap(([path, operations]) =>
    operationsOf(operations).flatMap(([method, operation]) => {
      const { 'x-curl': own } = operation;
      const { example, examples = {} } = contentOf(operation.responses['200']) ?? {};
      const name = `${method} ${path}`;
      const named = Object.values(examples).map(({ summary, value, 'x-curl': command }) => ({
        name: `${name}: ${summary}`,
        value,
        code: command ?? own,
      }));
      return named.length > 0 ? named : [{ name, code: own, value: example }];
    }),
  );
  let gateway: TestGateway;
  let variables: Record<string, string>;
  beforeAll(async () => {
    gateway = await startGateway();
    variables = await variablesOf(gateway);
  });
  afterAll(() => gateway.close());

  test.each(steps)('$name', async (step) => {
    const text = await execute(step.code, variables);
    if (step.value === undefined) {
      expect(text).toContain('# TYPE gateway_');
      return;
    }
    expect(comparable(JSON.parse(text))).toEqual(comparable(step.value));
    const { user_group: group } = JSON.parse(text) as { user_group?: { provided_id: string; token: string } };
    if (group?.provided_id === 'acme') variables['USER_GROUP_TOKEN'] = group.token;
  });
});

describe('the examples of errors', () => {
  let gateway: TestGateway;
  let variables: Record<string, string>;
  beforeAll(async () => {
    gateway = await startGateway();
    variables = await variablesOf(gateway);
    await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  });
  afterAll(() => gateway.close());

  test.each(
    errorExamples.flatMap(([code, { value, 'x-curl': command }]) => (command === undefined ? [] : [{ code, value, command }])),
  )('the command of $code gets the response', async ({ value, command }) => {
    const withStatus = command.replaceAll('curl -sS', String.raw`curl -sS -w '\n%{http_code}'`);
    const [text = '', status] = (await execute(withStatus, variables)).split('\n');
    expect(comparable(JSON.parse(text))).toEqual(comparable(value));
    expect(Number(status)).toBe((value as { status: number }).status);
  });
});
