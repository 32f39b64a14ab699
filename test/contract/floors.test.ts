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

test('a file imports only from its own room and from those below it', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const imports = files
    .filter((file) => room(file) !== 'generated')
    .flatMap((file) =>
      [...readFileSync(join('src', file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => ({
        file,
        target: normalize(join(dirname(file), path)),
      })),
    );
  expect(imports.length).toBeGreaterThan(50);
  const allowed = ({ file, target }: { file: string; target: string }) =>
    room(file) === room(target) || [target, room(target)].some((place) => floors[room(file)]?.includes(place));
  expect(imports.filter((one) => !allowed(one)).map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});
