import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventLimits } from '../../src/audit-log/events.ts';
import { feedLimits } from '../../src/audit-log/feed.ts';
import { embedTokenLimits } from '../../src/embed-tokens/rules.ts';
import { graphqlLimits } from '../../src/graphql/limits.ts';
import { httpLimits, httpTimeouts } from '../../src/http-limits.ts';
import { idempotencyLimits } from '../../src/idempotency.ts';
import { importLimits } from '../../src/user-groups/files.ts';
import { webhookLimits } from '../../src/webhooks/webhooks.ts';

const page = readFileSync('docs/limits.md', 'utf8');

test('docs/limits.md lists each limit with the value that applies', () => {
  const documented = Object.fromEntries(
    [...page.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)].map(([, name = '', value = '']) => [
      name,
      Number(value.replaceAll(',', '')),
    ]),
  );
  const limits = {
    ...graphqlLimits,
    ...httpLimits,
    ...httpTimeouts,
    ...embedTokenLimits,
    ...eventLimits,
    ...feedLimits,
    ...idempotencyLimits,
    ...importLimits,
    ...webhookLimits,
  };
  expect(documented).toEqual(limits);
});
