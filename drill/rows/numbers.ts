import type { Row } from '../row.ts';

/** A number with many zeros, each of which may start a search for trailing ones. */
const zeros = (count: number) => `1.${'0'.repeat(count)}1`;

/** The same, too large for a float. */
const whole = (count: number) => `1${'0'.repeat(count)}1`;

const rest = (properties: string) => `{"user_group_id":"numbers","properties":${properties}}`;
const variables = (value: string) => `{"query":"{__typename}","variables":{"a":${value}}}`;

/**
 * Numbers that take long to read. A number that JSON cannot represent exactly is rejected where it is used, and ignored
 * elsewhere.
 */
export const numberRows: readonly Row[] = [
  {
    name: 'number-in-variables',
    expects: ['2xx', '4xx'],
    send: async ({ graphql, tokens }) => [await graphql(Buffer.from(variables(zeros(200_000))), tokens.groups)],
  },
  {
    name: 'number-in-properties',
    send: async ({ send, tokens }) => [
      await send({ method: 'GET', path: '/api/user', token: tokens.groups, body: rest(`{"a":${zeros(200_000)}}`) }),
    ],
  },
  {
    name: 'numbers-of-other-forms',
    send: async ({ send, tokens }) => [
      await send({ method: 'GET', path: '/api/user', token: tokens.groups, body: rest(`{"a":-${zeros(400_000)}}`) }),
      await send({ method: 'GET', path: '/api/user', token: tokens.groups, body: rest(`{"a":1e${whole(400_000)}}`) }),
      await send({ method: 'GET', path: '/api/user', token: tokens.groups, body: rest(`{"a":0.${'0'.repeat(900_000)}1}`) }),
    ],
  },
  {
    name: 'many-long-numbers',
    expects: ['2xx', '4xx'],
    send: async ({ graphql, tokens }) => [
      await graphql(Buffer.from(variables(`[${Array.from({ length: 180 }, () => zeros(5_000)).join()}]`)), tokens.groups),
      await graphql(Buffer.from(variables(`[${Array.from({ length: 18_000 }, () => zeros(50)).join()}]`)), tokens.groups),
    ],
  },
  {
    name: 'number-in-a-literal',
    // The validator may report that it is not a name.
    expects: ['2xx', '4xx', 'errors'],
    send: async ({ graphql, tokens }) => {
      const query = `{ validateDocsConfig(input: {value: {name: ${zeros(60_000)}}}) { valid } }`;
      const asInt = `{ userGroup(by: {teamId: ${whole(60_000)}}) { name } }`;
      return [
        await graphql({ query }, tokens.validate),
        await graphql({ query: asInt }, tokens.groups),
        await graphql({ query: `{ nodes(ids: [${whole(60_000)}]) { id } }` }, tokens.groups),
      ];
    },
  },
  {
    name: 'number-in-a-query-string',
    expects: ['2xx', '4xx'],
    send: async ({ send, tokens }) => {
      const properties = encodeURIComponent(`{"a":${zeros(14_000)}}`);
      const path = `/graphql?query={__typename}&variables=${properties}`;
      return [
        await send({ method: 'GET', path: `/api/user?user_group_id=numbers&properties=${properties}`, token: tokens.groups }),
        await send({ method: 'GET', path, headers: { accept: 'application/json' } }),
      ];
    },
  },
];
