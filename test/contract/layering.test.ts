import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** What belongs together because it is about one thing. */
const nouns = [
  ...['api-tokens', 'audit-log', 'docs-config', 'embed-tokens', 'housekeeping', 'instance', 'user-groups', 'webhooks'],
];

/** The folders and files of `src`, the lowest layer first: what is imported at run time is of a lower layer, or of the same. */
const layers: readonly (readonly string[])[] = [
  ['durable-file.ts', 'package-root.ts', 'runtime-flags.ts', 'terminal-text.ts', 'token-prefixes.ts', 'tokens.ts'],
  [
    'caller.ts',
    'error-catalog.ts',
    'errors.ts',
    'http-limits.ts',
    'input.ts',
    'scopes.ts',
    'concurrency.ts',
    'encryption',
    'metrics.ts',
    'tracing.ts',
  ],
  ['database'],
  ['failures.ts', 'http', 'json.ts'],
  ['app.ts', 'graphql', 'idempotency.ts', 'key-rotation.ts', 'rate-limit.ts', ...nouns],
  ['commands', 'gateway.ts', 'log.ts', 'main.ts', 'routes.ts', 'schema.ts', 'setting-values.ts', 'settings.ts'],
];

const layerOf = (file: string): number => layers.findIndex((names) => names.includes(file.split('/')[0] ?? ''));

/** The files of nouns that belong to one of the two APIs; the rules beside them know neither. */
const isOfApi = (file: string): boolean => /\/(?:graphql|rest|(?:metrics-)?routes?)\b|^docs-config\/pages\b/.test(file);

/** A client of others, which uses HTTP and knows nothing of the APIs. */
const httpClient = 'webhooks/send.ts';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.[cm]?[jt]sx?$/.test(file) && !file.startsWith('generated'),
);

const importPattern =
  /(?<![.\w])(import\s+type\b[^'"`;]*from|export\s+type\b[^'"`;]*from|from|import|require)\s*\(?\s*(['"`])((?:node:|\.+\/)?[\w./@-]*\w)\2/g;

/** What a text imports or exports again at run time: paths and packages. */
function findImports(text: string): string[] {
  return [...text.matchAll(importPattern)].flatMap(([, keyword = '', , name = '']) => (/\btype\b/.test(keyword) ? [] : [name]));
}

const named = files.flatMap((file) => findImports(readFileSync(join('src', file), 'utf8')).map((name) => ({ file, name })));
const imports = named
  .filter(({ name }) => name.startsWith('.'))
  .map(({ file, name }) => ({ file, target: normalize(join(dirname(file), name)) }))
  .filter(({ target }) => !target.startsWith('generated'));

test('a file imports from its own layer and from lower ones', () => {
  expect(imports.length).toBeGreaterThan(50);
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
  const forbidden = imports.filter(({ file, target }) => layerOf(target) > layerOf(file));
  expect(forbidden.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

test('what every noun builds on imports none', () => {
  const forbidden = imports.filter(
    ({ file, target }) => file.startsWith('graphql/') && nouns.includes(target.split('/')[0] ?? ''),
  );
  expect(forbidden.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

test('the rules and statements of a noun import neither GraphQL nor HTTP', () => {
  const forbidden = imports.filter(
    ({ file, target }) =>
      nouns.includes(file.split('/')[0] ?? '') &&
      !isOfApi(file) &&
      file !== httpClient &&
      (/^(?:graphql|http)\//.test(target) || isOfApi(target)),
  );
  expect(forbidden.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

test('the rules and statements of a noun use no package of GraphQL or HTTP', () => {
  const forbidden = named.filter(
    ({ file, name }) =>
      nouns.includes(file.split('/')[0] ?? '') &&
      !isOfApi(file) &&
      file !== httpClient &&
      /^(?:graphql|@pothos|@graphql-|node:https?$)/.test(name),
  );
  expect(forbidden).toEqual([]);
});

test('the validator imports nothing of the gateway', () => {
  const folder = 'packages/docs-config/src';
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const targets = own.flatMap((file) =>
    findImports(readFileSync(join(folder, file), 'utf8')).map((name) =>
      name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
    ),
  );
  const packages = new Set(targets.filter((target) => !own.includes(target)));
  expect(packages).toEqual(new Set(['jsonc-parser', 'node:buffer', 'node:util', 'zod']));
});

test('no file imports itself through others', () => {
  expect(findCycles(imports)).toEqual([]);
});

/** The files that may use the environment, besides those that pass it to `readConfig`. */
const environmentUsers: Readonly<Record<string, string>> = {
  'runtime-flags.ts': "['NODE_ENV'] ??=",
  'commands/doctor.ts': "process.env['ENCRYPTION_KEYS_FILE']",
  'database/bundled.ts': "PATH: process.env['PATH']",
};

test('settings are read in one place: nothing else reads the environment', () => {
  const uses = files.flatMap((file) =>
    readFileSync(join('src', file), 'utf8')
      .split('\n')
      .filter((line) => /\bprocess\.env\b|\benv\b.*= process\b/.test(line))
      .map((line) => ({ file, line })),
  );
  expect(uses.length).toBeGreaterThan(3);
  const isPermitted = (file: string, line: string) =>
    /readConfig\(process\.env/.test(line) || line.includes(environmentUsers[file] ?? 'none');
  expect(uses.filter(({ file, line }) => !isPermitted(file, line))).toEqual([]);
});

/** The cycles that a depth-first search meets, as `file -> file -> file`; empty exactly when there is none. */
function findCycles(edges: readonly { file: string; target: string }[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of edges) targets.set(file, [...(targets.get(file) ?? []), target]);
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    else if (!done.has(file)) {
      path.push(file);
      for (const target of targets.get(file) ?? []) visit(target);
      path.pop();
      done.add(file);
    }
  };
  for (const file of targets.keys()) visit(file);
  return cycles;
}
