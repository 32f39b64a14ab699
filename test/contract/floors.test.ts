import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** Which rooms (a folder or a file directly below src) may be imported from which; a path names one file of a room. */
const floors: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['production.ts', 'commands', 'config.ts', 'domain'],
  commands: ['gateway.ts', 'config.ts', 'log.ts', 'database', 'domain', 'docs-config', 'generated'],
  'gateway.ts': ['database', 'domain', 'docs-config', 'graphql', 'http', 'rest'],
  rest: ['graphql', 'http'],
  graphql: ['concurrency.ts', 'fair-queue.ts', 'domain', 'docs-config', 'docs-config-pool', 'generated'],
  http: ['concurrency.ts', 'fair-queue.ts', 'domain', 'docs-config'],
  'concurrency.ts': ['domain', 'fair-queue.ts'],
  'fair-queue.ts': [],
  domain: ['fair-queue.ts', 'generated', 'database/client.ts', 'database/text-query.ts', 'database/faults.ts'],
  'docs-config': [],
  'docs-config-pool': ['docs-config', 'domain'],
  database: ['generated'],
  'log.ts': ['config.ts'],
  'config.ts': ['domain/token-format.ts'],
};

const room = (file: string): string => file.split('/')[0] ?? file;

const imports = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && room(file) !== 'generated')
  .flatMap((file) =>
    [...readFileSync(join('src', file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => ({
      file,
      target: normalize(join(dirname(file), path)),
    })),
  );

test('a file imports only from its own room and from those below it', () => {
  expect(imports.length).toBeGreaterThan(50);
  const allowed = ({ file, target }: { file: string; target: string }) =>
    room(file) === room(target) || [target, room(target)].some((place) => floors[room(file)]?.includes(place));
  expect(imports.filter((one) => !allowed(one)).map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
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
