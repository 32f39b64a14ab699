import { expect, test } from 'vitest';
import { createRouter, lastSegment } from '../../src/http/router.ts';
import type { Route } from '../../src/http/types.ts';

const route = (path: string, rest: Partial<Route> = {}): Route => ({
  ...{ path, methods: ['GET'], credential: 'ignored', description: path, isListed: true },
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
  ['/', '/'],
  ['/things', '/things'],
  ['/things/', '/things'],
  ['/things/7', '/things/{id}'],
  ['/things/5', '/things/5'],
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
])('%s is found as %s', (path, expected) => {
  expect(find(path)?.path).toBe(expected);
});

test('the last segment is the value of the parameter', () => {
  expect(['/things/7', '/things/', 'x', ''].map(lastSegment)).toEqual(['7', '', 'x', '']);
});

test.each<[string, Route[]]>([
  ['two routes with the same path', [route('/a'), route('/a')]],
  ['an alias that is the path of another route', [route('/a', { aliases: ['/b'] }), route('/b')]],
  ['two parameters in the same place', [route('/{a}', { accepts: () => true }), route('/{b}', { accepts: () => true })]],
  ['a parameter without accepts', [route('/a/{b}')]],
  ['a parameter that is not the last segment', [route('/{a}/b', { accepts: () => true })]],
  ['a parameter that is a part of a segment', [route('/a-{b}', { accepts: () => true })]],
])('rejects %s', (_, routes) => {
  expect(() => createRouter(routes)).toThrow(/path/);
});
