import { expect, test } from 'vitest';
import { createRouter } from '../../src/http/server.ts';
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
  route('/things'),
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
  ['/things/7/', '/things/{id}', '7'],
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
