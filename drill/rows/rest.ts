import type { Row, Target } from '../row.ts';

const update = (target: Target, token: string, members: object | string) =>
  target.send({ method: 'PUT', path: '/api/user', token, body: members });

const entries = (count: number, value: (i: number) => unknown, key = (i: number) => i.toString(36)) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [key(i), value(i)]));

/** Legacy REST bodies with very many errors. */
export const restRows: readonly Row[] = [
  {
    name: 'mapping-of-numbers',
    // Without and with the required scope.
    refusals: ['FORBIDDEN'],
    someExpect: ['4xx'],
    send: async (target) => {
      const body = { user_group_id: 'large', mapping: entries(90_000, () => 0) };
      return [await update(target, target.tokens.validate, body), await update(target, target.tokens.groups, body)];
    },
  },
  {
    name: 'mapping-of-long-names',
    send: async (target) => {
      const body = { user_group_id: 'large', mapping: entries(3_500, () => 'x'.repeat(280)) };
      const many = { user_group_id: 'large', mapping: entries(90_000, () => '') };
      return [await update(target, target.tokens.groups, body), await update(target, target.tokens.groups, many)];
    },
  },
  {
    name: 'mapping-of-deep-values',
    send: async (target) => [
      await update(target, target.tokens.groups, { user_group_id: 'large', mapping: entries(30_000, () => [[{ a: [1] }]]) }),
    ],
  },
  {
    name: 'properties-of-1-mb',
    send: async (target) => [
      await update(target, target.tokens.groups, { user_group_id: 'large', properties: { text: 'x'.repeat(1_000_000) } }),
      await update(target, target.tokens.groups, { user_group_id: 'large', properties: entries(60_000, () => '\0') }),
      await update(target, target.tokens.groups, { user_group_id: 'large', properties: entries(60_000, () => '\ud800') }),
    ],
  },
  {
    name: 'properties-deep',
    send: async (target) => [
      await update(
        target,
        target.tokens.groups,
        `{"user_group_id":"large","properties":${'{"a":'.repeat(170_000)}1${'}'.repeat(170_000)}}`,
      ),
      await update(
        target,
        target.tokens.groups,
        `{"user_group_id":"large","properties":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      ),
    ],
  },
  {
    name: 'properties-of-wrong-numbers',
    send: async (target) => [
      await update(target, target.tokens.groups, `{"user_group_id":"large","properties":[${'1e400,'.repeat(170_000)}1]}`),
    ],
  },
  {
    name: 'texts-of-1-mb',
    send: async (target) => {
      const { groups } = target.tokens;
      const text = 'x\0'.repeat(140_000); // each of these NUL takes six bytes
      return [
        await update(target, groups, { user_group_id: text }),
        await update(target, groups, { user_group_id: 'large', name: text }),
        await target.send({ method: 'POST', path: '/api/user', token: groups, body: { current_token: text } }),
        await target.send({
          method: 'POST',
          path: '/api/user',
          token: groups,
          body: { current_token: `ugt_${'0'.repeat(1_000_000)}` },
        }),
        await target.send({ method: 'GET', path: '/api/user', token: groups, body: { user_group_id: ' '.repeat(1_000_000) } }),
      ];
    },
  },
  {
    name: 'wrong-types-of-1-mb',
    send: async (target) => {
      const list = Array(500_000).fill(0);
      const half = list.slice(0, 250_000);
      const body = { user_group_id: list };
      return [
        await update(target, target.tokens.groups, body),
        await update(target, target.tokens.groups, { user_group_id: 'large', mapping: list }),
        await update(target, target.tokens.groups, { user_group_id: 'large', name: half, properties: half }),
      ];
    },
  },
  {
    name: 'duplicates-in-a-query-string',
    send: async ({ send, tokens }) => [
      await send({ method: 'GET', path: `/api/user?${'user_group_id=a&'.repeat(900)}name=b`, token: tokens.groups }),
      await send({
        method: 'GET',
        path: `/api/user?user_group_id=a&properties=${encodeURIComponent('['.repeat(4_000))}`,
        token: tokens.groups,
      }),
    ],
  },
];
