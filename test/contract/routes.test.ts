import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mediaTypes } from '../../src/http/media-types.ts';
import { paths } from '../../src/http/paths.ts';
import { routes } from '../support/routes.ts';

test('each path is of one route', () => {
  const served = routes.map(({ path }) => path.replace(/\{.*/, '{'));
  expect(served).toEqual([...new Set(served)]);
});

test.each(routes)('$path has a parameter, as its whole last segment, exactly if the route accepts values', (route) => {
  const { path, accepts } = route;
  expect(path).toMatch(accepts ? /^[^{}]*\/\{\w+\}$/ : /^[^{}]+$/);
});

test.each(routes)('$path is described in one sentence without its period', ({ description, methods }) => {
  expect(description).toMatch(/^[A-Z].*[^.]$/);
  expect(methods.length).toBeGreaterThan(0);
});

test('docs/http.md lists every route, and nothing else', () => {
  const [table = ''] = readFileSync('docs/http.md', 'utf8')
    .split('\n\n')
    .filter((part) => part.startsWith('| path'));
  const documented = [...table.matchAll(/`(\/[^`]*)`/g)].map(([, path]) => path);
  expect(new Set(documented)).toEqual(new Set(routes.map(({ path }) => path)));
});

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.startsWith('generated'),
);
/** The files with this text at the beginning of a string literal. Comments do not count. */
const filesWith = (text: string) =>
  files.filter((file) =>
    readFileSync(join('src', file), 'utf8')
      .split('\n')
      .some((line) => !/^\s*(\/?\*|\/\/)/.test(line) && new RegExp(`['"\`]${text}(?![\\w.])`).test(line)),
  );

test.each(Object.values(paths).filter((path) => path.length > 1))('only one file states the path %s', (path) => {
  expect(filesWith(path)).toEqual(['http/paths.ts']);
});

test.each(Object.values(mediaTypes))('only one file names the media type %s', (mediaType) => {
  expect(filesWith(mediaType.replace('+', '\\+'))).toEqual(['http/media-types.ts']);
});
