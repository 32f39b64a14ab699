import type { HostileScenario } from '../hostile-scenario.ts';

/** A number with many zeros, each of which may start a search for trailing ones. */
const zeros = (count: number) => `1.${'0'.repeat(count)}1`;

/** The same, too large for a float. */
const whole = (count: number) => `1${'0'.repeat(count)}1`;

const rest = (number: string) => `{"user_group_id":"numbers","properties":{"a":${number}}}`;
const variables = (value: string) => Buffer.from(`{"query":"{__typename}","variables":{"a":${value}}}`);

/**
 * Numbers that take long to read. A number that JSON cannot represent exactly is rejected where it is used, and ignored
 * elsewhere.
 */
export const numberScenarios: readonly HostileScenario[] = [
  {
    name: 'number-in-properties',
    send: async ({ send, tokens }) => {
      const replies = [];
      for (const number of [`-${zeros(400_000)}`, `1e${whole(400_000)}`, `0.${'0'.repeat(900_000)}1`])
        replies.push(await send({ method: 'GET', path: '/api/user', token: tokens.groups, body: rest(number) }));
      return replies;
    },
  },
  {
    name: 'many-long-numbers',
    expects: ['2xx', '4xx'],
    send: async ({ graphql, tokens }) => [
      await graphql(variables(`[${Array(180).fill(zeros(5_000)).join()}]`), tokens.groups),
      await graphql(variables(`[${Array(18_000).fill(zeros(50)).join()}]`), tokens.groups),
    ],
  },
  {
    name: 'number-in-a-literal',
    // The validator may report that it is not a name.
    expects: ['2xx', '4xx', 'errors'],
    send: async ({ graphql, tokens }) => [
      await graphql({ query: `{ validateDocsConfig(input: {value: {name: ${zeros(60_000)}}}) { valid } }` }, tokens.validate),
      await graphql({ query: `{ userGroup(by: {teamId: ${whole(60_000)}}) { name } }` }, tokens.groups),
      await graphql({ query: `{ nodes(ids: [${whole(60_000)}]) { id } }` }, tokens.groups),
    ],
  },
];
