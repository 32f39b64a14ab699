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

test('openapi.yaml passes the linter', async () => {
  const problems = await lintFromString({ source: openApiText, config });
  expect(problems.map(({ ruleId, message, location }) => `${location[0]?.pointer}: ${message} (${ruleId})`)).toEqual([]);
});
