import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openApiDocument } from '../test/support/openapi.ts';

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'no-required-schema-properties-undefined': 'error',
    'response-contains-header': {
      severity: 'error',
      names: { '2xx': ['X-Request-Id'], '4xx': ['X-Request-Id'], '5xx': ['X-Request-Id'] },
    },
  },
});

const lint = async (document: unknown): Promise<string[]> => {
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
};

test('the OpenAPI document passes the linter', async () => {
  expect(await lint(openApiDocument)).toEqual([]);
});

test('the linter finds an example that does not fit its schema', async () => {
  const text = JSON.stringify(openApiDocument).replace('"new_user_group":true', '"new_user_group":"yes"');
  expect((await lint(JSON.parse(text))).join()).toContain('new_user_group');
});
