import type { HostileScenario } from '../hostile-scenario.ts';

/** Sends each body in its own request, sequentially: an update, unless another method is named. */
const bodies = (name: string, ...list: readonly (object | string | [method: string, body: object])[]): HostileScenario => ({
  name,
  send: async ({ send, tokens }) => {
    const replies = [];
    for (const each of list) {
      const [method, body] = Array.isArray(each) ? each : ['PUT', each];
      replies.push(await send({ method, path: '/api/user', token: tokens.groups, body }));
    }
    return replies;
  },
});

const user_group_id = 'large';

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [i.toString(36), value]));

const longText = 'x\0'.repeat(140_000); // each of these NUL takes six bytes
const list = Array(500_000).fill(0);

/** Legacy REST bodies with very many errors, or very large ones. */
export const restScenarios: readonly HostileScenario[] = [
  bodies(
    'mapping-of-1-mb',
    { user_group_id, mapping: entries(3_500, 'x'.repeat(280)) },
    { user_group_id, mapping: entries(90_000, '') },
    { user_group_id, mapping: entries(30_000, [[{ a: [1] }]]) },
    { user_group_id, mapping: list },
  ),
  bodies(
    'properties-of-1-mb',
    { user_group_id, properties: { text: 'x'.repeat(1_000_000) } },
    { user_group_id, properties: entries(60_000, '\0') },
    { user_group_id, properties: entries(60_000, '\ud800') },
    `{"user_group_id":"large","properties":[${'1e400,'.repeat(170_000)}1]}`,
  ),
  bodies(
    'texts-of-1-mb',
    { user_group_id: longText },
    { user_group_id, name: longText },
    { user_group_id: list },
    { user_group_id, name: list.slice(1, 250_000), properties: list.slice(1, 250_000) },
    ['POST', { current_token: longText }],
    ['POST', { current_token: `ugt_${'0'.repeat(1_000_000)}` }],
    ['GET', { user_group_id: ' '.repeat(1_000_000) }],
  ),
];
