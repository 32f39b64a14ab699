import { expect, test } from 'vitest';
import { createRouter } from '../../src/http/router.ts';
import type { Route } from '../../src/http/types.ts';

const route = (path: string, rest: Partial<Route> = {}): Route => ({
  path,
  methods: ['GET'],
  credential: 'ignored',
  description: path,
  isListed: true,
  handle: () => ({ status: 200, headers: {}, body: path }),
  renderError: ({ message }) => ({ status: 500, headers: {}, body: message }),
  ...rest,
});

const find = createRouter([
  route('/'),
  route('/things', { aliases: ['/things/'] }),
  route('/things/{id}', { accepts: (id) => /^\d+$/.test(id) }),
  route('/things/5'),
]);

test.each([
  ['/', '/', ''],
  ['/things', '/things', ''],
  ['/things/', '/things', ''],
  ['/things/7', '/things/{id}', '7'],
  ['/things/5', '/things/5', ''],
  ['/things/x', undefined],
  ['/things//', undefined],
  ['/things/7/', undefined],
  ['/things/7/8', undefined],
  ['/things/{id}', undefined],
  ['//7', undefined],
  ['things', undefined],
  ['', undefined],
  ['/constructor', undefined],
  ['/__proto__', undefined],
])('%s is found as %s', (path, expected, parameter = undefined) => {
  const match = find(path);
  expect([match?.route.path, match?.parameter]).toEqual([expected, parameter]);
});

test.each<[string, Route[]]>([
  ['two routes with the same path', [route('/a'), route('/a')]],
  ['an alias that is the path of another route', [route('/a', { aliases: ['/b'] }), route('/b')]],
  ['two parameters in the same place', [route('/{a}', { accepts: () => true }), route('/{b}', { accepts: () => true })]],
  ['a parameter without accepts', [route('/a/{b}')]],
  ['a parameter that is not the last segment', [route('/{a}/b', { accepts: () => true })]],
  ['two parameters', [route('/a/{b}{c}', { accepts: () => true })]],
  ['a brace without its other one', [route('/a/b}')]],
  ['an alias with a parameter', [route('/a', { aliases: ['/a/{b}'] })]],
  ['accepts without a parameter', [route('/a', { accepts: () => true })]],
  ['a parameter that is a part of a segment', [route('/a-{b}', { accepts: () => true })]],
])('rejects %s', (_, routes) => {
  expect(() => createRouter(routes)).toThrow(/path/);
});
