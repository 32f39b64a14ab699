import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { startGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { binary } from '../support/process.ts';
import { pages, snippetsOf } from '../support/snippets.ts';

const run = promisify(execFile);

/** A folder with an `npm` that runs the compiled binary for `npm run -s gateway -- COMMAND`, and fails for anything else. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-snippets-'));
  const script = `#!/bin/sh
[ "$1 $2 $3 $4" = "run -s gateway --" ] || exit 64
shift 4
exec ${JSON.stringify(process.execPath)} ${JSON.stringify(binary)} "$@"
`;
  writeFileSync(join(folder, 'npm'), script, { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The shell commands of a page, but those marked `notest`, and the response that is shown below them. */
const examplesOf = (page: string) =>
  snippetsOf(page).flatMap(({ language, info, text, line }, index, all) => {
    if (language !== 'sh' || info === 'notest') return [];
    const next = all[index + 1];
    return [{ text, place: `${page}:${line}`, response: next?.language === 'json' ? next.text : undefined }];
  });

/** A value of an expected response, in which `…` in a text stands for anything. */
function pattern(expected: unknown): unknown {
  if (typeof expected === 'string' && expected.includes('…')) {
    const parts = expected.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return expect.stringMatching(new RegExp(`^${parts.join('.*')}$`, 's'));
  }
  if (Array.isArray(expected)) return expected.map(pattern);
  if (typeof expected !== 'object' || expected === null) return expected;
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, pattern(value)]));
}

test.each(pages.filter((page) => examplesOf(page).length > 0))(
  'every shell command of %s works, with the response that is shown',
  async (page) => {
    const gateway = await startGateway();
    onTestFinished(() => gateway.close());
    const env = {
      PATH: `${folder}${delimiter}${process.env['PATH']}`,
      HOME: folder,
      LOG_LEVEL: 'silent',
      GATEWAY: gateway.url,
      DATABASE_URL: gateway.database.url,
      ENCRYPTION_KEYS: testKey,
      API_TOKEN: gateway.token,
      READ_ONLY_API_TOKEN: (await gateway.issue({ scopes: ['groups:read'] })).secret,
      UNTAGGED_API_TOKEN: (await gateway.issue({ environment: null })).secret,
      AUDIT_API_TOKEN: (await gateway.issue({ scopes: ['audit:read'] })).secret,
    };
    let userGroupToken = '';
    for (const { text, response, place } of examplesOf(page)) {
      const command = text
        .replaceAll('http://127.0.0.1:4000', gateway.url)
        .replaceAll('ugk_…', gateway.token)
        .replaceAll('ugt_…', userGroupToken);
      const { stdout } = await run('sh', ['-euc', command], { env, cwd: folder });
      if (response !== undefined) expect(JSON.parse(stdout), place).toEqual(pattern(JSON.parse(response)));
      userGroupToken = /ugt_[0-9A-Za-z]{36}/.exec(stdout)?.[0] ?? userGroupToken;
    }
  },
);

test('every GraphQL snippet is valid against the schema', () => {
  const texts = pages.flatMap(snippetsOf).filter(({ language }) => language === 'graphql');
  expect(texts.length).toBeGreaterThan(3);
  for (const { text } of texts) expect(validate(schema, parse(text)), text).toEqual([]);
});
