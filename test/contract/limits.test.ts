import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { backupLimits } from '../../src/database/backup/manifest.ts';
import { embedTokenLimits } from '../../src/domain/embed-token-input.ts';
import { eventLimits } from '../../src/domain/event-limits.ts';
import { idempotencyLimits } from '../../src/domain/idempotency.ts';
import { importLimits } from '../../src/domain/import-limits.ts';
import { graphqlLimits, persistedOperationsLimits } from '../../src/graphql/schema/limits.ts';
import { heavyWorkLimits } from '../../src/heavy-work.ts';
import { httpLimits, httpTimeouts } from '../../src/http/limits.ts';

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
    ...persistedOperationsLimits,
    ...heavyWorkLimits,
    ...httpLimits,
    ...httpTimeouts,
    ...embedTokenLimits,
    ...eventLimits,
    ...idempotencyLimits,
    ...importLimits,
    ...backupLimits,
  };
  expect(documented).toEqual(limits);
});
