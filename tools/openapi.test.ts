import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openApiText } from '../test/support/openapi.ts';

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

const lint = async (source: string): Promise<string[]> => {
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location }) => `${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
};

test('openapi.yaml passes the linter', async () => {
  expect(await lint(openApiText)).toEqual([]);
});

test('the linter finds an example that does not fit its schema', async () => {
  const text = openApiText.replace('new_user_group: true', 'new_user_group: yes');
  expect((await lint(text)).join()).toContain('new_user_group');
});
