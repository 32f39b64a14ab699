import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** Which modules (folders, or files directly below src) may be imported from which; a path may also name one file of a module. */
const permissions: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['first-process.ts', 'runtime-flags.ts', 'commands'],
  commands: [
    'first-process.ts',
    'package-root.ts',
    'concurrency.ts',
    'gateway.ts',
    'config.ts',
    'logger.ts',
    'terminal-text.ts',
    'database',
    'database/queries',
    'domain',
    'http/connection.ts',
    'http/limits.ts',
    'docs-config',
    'docs-config-pool',
    'graphql/execution/persisted-operations.ts',
    'graphql/schema/limits.ts',
    'generated',
    'http/json.ts',
    'http/server-url.ts',
    'metrics',
    'tracing',
  ],
  'gateway.ts': [
    'routes.ts',
    'package-root.ts',
    'database',
    'database/queries',
    'domain',
    'graphql/execution',
    'graphql/schema',
    'http',
    'http/pages',
    'metrics',
    'oauth2',
    'prometheus',
    'rest',
    'gateway-gauges.ts',
    'request-log.ts',
    'tracing',
    'rate-limiting.ts',
    'concurrency.ts',
  ],
  'rate-limiting.ts': ['database/client.ts', 'database/queries', 'domain', 'http', 'metrics'],
  'request-log.ts': ['http'],
  'gateway-gauges.ts': ['package-root.ts', 'database', 'heavy-work.ts', 'metrics'],
  'routes.ts': ['package-root.ts', 'docs-config', 'graphql/execution', 'http', 'http/pages', 'oauth2', 'prometheus', 'rest'],
  prometheus: ['http', 'metrics'],
  oauth2: ['domain', 'http'],
  rest: ['domain', 'graphql/execution', 'graphql/schema', 'http', 'tracing'],
  'graphql/execution': [
    'graphql/schema',
    'domain',
    'metrics',
    'tracing',
    'heavy-work.ts',
    'http/beside-body.ts',
    'http/body.ts',
    'http/idempotency.ts',
    'http/json.ts',
    'http/media-types.ts',
    'http/problem.ts',
    'http/types.ts',
  ],
  'graphql/schema': [
    'domain',
    'docs-config',
    'docs-config-pool',
    'generated',
    'http/limits.ts',
    'http/paths.ts',
    'http/request-errors.ts',
    'metrics',
  ],
  http: ['domain', 'heavy-work.ts', 'fair-queue.ts', 'tracing'],
  'http/pages': ['http', 'domain', 'docs-config'],
  'heavy-work.ts': ['concurrency.ts', 'fair-queue.ts'],
  'concurrency.ts': ['domain', 'fair-queue.ts'],
  domain: [
    'generated',
    'concurrency.ts',
    'database/client.ts',
    'database/work-unit.ts',
    'database/queries',
    'database/errors.ts',
  ],
  metrics: ['domain'],
  tracing: [],
  'docs-config': ['terminal-text.ts'],
  'docs-config-pool': ['package-root.ts', 'docs-config', 'domain', 'fair-queue.ts', 'http/limits.ts'],
  database: ['package-root.ts', 'generated', 'fair-queue.ts', 'metrics/metrics.ts', 'tracing'],
  'database/queries': [
    'generated',
    'fair-queue.ts',
    'database/client.ts',
    'database/batch-loader.ts',
    'database/errors.ts',
    'database/roll-back.ts',
    'database/text-rows.ts',
    'database/application-names.ts',
  ],
  'logger.ts': ['config.ts', 'domain/tokens.ts', 'log-stream.ts', 'terminal-text.ts'],
  'config.ts': ['setting-values.ts', 'domain/keys.ts', 'domain/tokens.ts'],
  'setting-values.ts': ['database/database-url.ts', 'domain/keys.ts'],
  'fair-queue.ts': [],
};

/** The module of a file: the longest path of the table that contains it, or else the first segment of its path. */
const moduleOf = (file: string): string =>
  Object.keys(permissions)
    .filter((path) => file === path || file.startsWith(`${path}/`))
    .sort((a, b) => b.length - a.length)[0] ??
  file.split('/')[0] ??
  file;

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.[cm]?[jt]sx?$/.test(file) && moduleOf(file) !== 'generated',
);

/** What a text imports or exports again: paths and packages, also at run time. */
function findImports(text: string): string[] {
  return [...text.matchAll(/(?<![.\w])(?:from|import|require)\s*\(?\s*(['"`])((?:node:|\.+\/)?[\w./@-]*\w)\1/g)].map(
    ([, , name = '']) => name,
  );
}

const named = files.flatMap((file) => findImports(readFileSync(join('src', file), 'utf8')).map((name) => ({ file, name })));
const imports = named
  .filter(({ name }) => name.startsWith('.'))
  .map(({ file, name }) => ({ file, target: normalize(join(dirname(file), name)) }));

const isPermittedBy = (permission: string, target: string) => permission === target || permission === moduleOf(target);

test('a file imports only from its own module and from those that its module may use', () => {
  expect(imports.length).toBeGreaterThan(50);
  const forbidden = imports.filter(({ file, target }) => {
    const own = moduleOf(file);
    return own !== moduleOf(target) && !permissions[own]?.some((permission) => isPermittedBy(permission, target));
  });
  expect(forbidden.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

test.each([
  ["import { a } from './b.ts';", './b.ts'],
  ["import type { A } from './b.ts';", './b.ts'],
  ["import './b.ts';", './b.ts'],
  ["export * from './b.ts';", './b.ts'],
  ["const { a } = await import('./b.ts');", './b.ts'],
  ['const { a } = await import(`./b.ts`);', './b.ts'],
  ['import { a } from "./b.ts";', './b.ts'],
  ["const a = require('./b.js');", './b.js'],
  ["type A = import('./b.ts').A;", './b.ts'],
  ["import { Pool } from 'pg';", 'pg'],
])('finds the import in %j', (text, name) => {
  expect(findImports(text)).toEqual([name]);
});

/** The packages that the modules without a transport, SQL or a file system may import. */
const packages: Readonly<Record<string, readonly string[]>> = {
  domain: [
    'jose/errors',
    'jose/jwk/thumbprint',
    'jose/jwt/sign',
    'jose/jwt/verify',
    'jose/key/export',
    'jose/key/generate/keypair',
    'node:crypto',
    'node:timers/promises',
    'node:zlib',
  ],
  'docs-config': ['node:util', 'zod'],
  'config.ts': ['zod'],
  'setting-values.ts': ['node:fs', 'zod'],
  rest: ['graphql'],
};

test.each(Object.entries(packages))('%s imports only these packages: %j', (module, permitted) => {
  const used = named.filter(({ file, name }) => moduleOf(file) === module && !name.startsWith('.')).map(({ name }) => name);
  expect(new Set(used)).toEqual(new Set(permitted));
});

/** The files that may use the environment, besides those that pass it to `readConfig`. */
const environmentUsers: Readonly<Record<string, string>> = {
  'runtime-flags.ts': "['NODE_ENV'] ??=",
  'commands/doctor/doctor.ts': 'environment: process.env',
  'commands/stop-request.ts': "['npm_lifecycle_event']",
  'http/pages/request-examples.ts': '=> `process.env.$', // in the text of examples
  'database/embedded/cluster.ts': "['PATH'], SystemRoot: process.env['SystemRoot']",
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
    line.includes('readConfig(process.env') ||
    line.includes(environmentUsers[file] ?? 'none') ||
    line.includes('stdin, stdout, stderr, env');
  expect(uses.filter(({ file, line }) => !isPermitted(file, line))).toEqual([]);
});

test('every permission is used', () => {
  const unused = Object.entries(permissions).flatMap(([own, targets]) =>
    targets
      .filter((permission) => !imports.some(({ file, target }) => moduleOf(file) === own && isPermittedBy(permission, target)))
      .map((permission) => `${own} -> ${permission}`),
  );
  expect(unused).toEqual([]);
});

test('no file imports itself through others, not even for a type', () => {
  expect(imports.length).toBeGreaterThan(50);
  expect(findCycles(imports)).toEqual([]);
});

test('finds import cycles', () => {
  const edges = ['a b', 'b c', 'c a', 'c d', 'd d'].map((edge) => edge.split(' ') as [string, string]);
  expect(findCycles(edges.map(([file, target]) => ({ file, target })))).toEqual(['a -> b -> c -> a', 'd -> d']);
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
