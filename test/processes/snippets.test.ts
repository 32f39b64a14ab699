import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, specifiedRules, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { startGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { pages, type Snippet, snippetsOf } from '../support/snippets.ts';

const run = promisify(execFile);

/** A folder with an `npm` that runs the compiled binary for `npm run -s gateway -- COMMAND`, and fails for anything else. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-snippets-'));
  const binary = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  const script = `#!/bin/sh
[ "$1 $2 $3 $4" = "run -s gateway --" ] || exit 64
shift 4
exec ${JSON.stringify(process.execPath)} ${JSON.stringify(binary)} "$@"
`;
  writeFileSync(join(folder, 'npm'), script, { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Shell commands to run, and the response that the page shows below them. */
interface Example extends Snippet {
  readonly response: string | undefined;
}

/** The shell snippets of a page that send requests or run commands, except those marked `notest`. */
function examplesOf(page: string): Example[] {
  const snippets = snippetsOf(page);
  return snippets.flatMap((snippet, index) => {
    if (snippet.language !== 'sh' || snippet.info === 'notest') return [];
    const next = snippets[index + 1];
    return [{ ...snippet, response: next?.language === 'json' ? next.text : undefined }];
  });
}

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

describe.each(pages.filter((page) => examplesOf(page).length > 0))('%s', (page) => {
  test('every shell command works, with the response that is shown', async () => {
    const gateway = await startGateway();
    onTestFinished(() => gateway.close());
    const [readOnly, untagged, audit] = await Promise.all([
      gateway.issue({ scopes: ['groups:read'] }),
      gateway.issue({ environment: null }),
      gateway.issue({ scopes: ['audit:read'] }),
    ]);
    const env = {
      PATH: `${folder}${delimiter}${process.env['PATH']}`,
      HOME: folder,
      LOG_LEVEL: 'silent',
      GATEWAY: gateway.url,
      DATABASE_URL: gateway.database.url,
      ENCRYPTION_KEYS: testKey,
      API_TOKEN: gateway.token,
      READ_ONLY_API_TOKEN: readOnly.secret,
      UNTAGGED_API_TOKEN: untagged.secret,
      AUDIT_API_TOKEN: audit.secret,
    };
    let userGroupToken = '';
    for (const { text, response, line } of examplesOf(page)) {
      const command = text
        .replaceAll('http://127.0.0.1:4000', gateway.url)
        .replaceAll('ugk_…', gateway.token)
        .replaceAll('ugt_…', userGroupToken);
      const { stdout } = await run('sh', ['-euc', command], { env, cwd: folder });
      if (response !== undefined) expect(JSON.parse(stdout), `${page}:${line}`).toEqual(pattern(JSON.parse(response)));
      userGroupToken = /ugt_[0-9A-Za-z]{36}/.exec(stdout)?.[0] ?? userGroupToken;
    }
  });
});

test('every GraphQL snippet is valid against the schema', () => {
  const snippets = pages.flatMap((page) =>
    snippetsOf(page)
      .filter(({ language }) => language === 'graphql')
      .map(({ text, line }) => ({ place: `${page}:${line}`, text })),
  );
  expect(snippets.length).toBeGreaterThan(3);
  const rules = specifiedRules;
  const invalid = snippets.flatMap(({ place, text }) =>
    validate(schema, parse(text), rules).map(({ message }) => `${place}: ${message}`),
  );
  expect(invalid).toEqual([]);
});
