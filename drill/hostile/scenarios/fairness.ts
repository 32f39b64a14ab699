import type { HostileScenario, Target } from '../hostile-scenario.ts';
import type { Reply } from '../request.ts';

const idOf = (number: number) => Buffer.from(`UserGroup:${number}`).toString('base64');

/** A request for `lists` × 100 distinct groups. */
function batch({ graphql, tokens }: Target, lists: number, from: number): Promise<Reply> {
  const numbers = Array.from({ length: lists }, (_, i) => i);
  const variables = Object.fromEntries(
    numbers.map((i) => [`v${i}`, Array.from({ length: 100 }, (_, k) => idOf(from + i * 100 + k))]),
  );
  const query = `query(${numbers.map((i) => `$v${i}:[ID!]!`).join()}){${numbers.map((i) => `a${i}:nodes(ids:$v${i}){id}`).join(' ')}}`;
  return graphql({ query, variables }, tokens.groups);
}

/** How long another caller's document of 70 KB may take during the scenario. */
const maxOtherMs = 3_000;

/** A request to check a valid document of 20 bytes for each page. */
const validation = (pages: number) => ({
  query: 'query($s:String!){validateDocsConfig(input:{source:$s}){valid diagnostics{code}}}',
  variables: {
    s: JSON.stringify({
      name: 'A',
      navigation: [{ group: 'B', pages: Array.from({ length: pages }, (_, i) => `guides/page-${10_000 + i}`) }],
    }),
  },
});

/**
 * One caller that uses up what others need too. Scenarios of ordinary requests send no more than one processor handles in a
 * moment.
 */
export const fairnessScenarios: readonly HostileScenario[] = [
  {
    name: 'batches-of-1300-ids',
    expects: ['2xx', '503'],
    someExpect: ['2xx'],
    // About as many as one operation may have. Repeatedly, so that other callers' requests arrive in between.
    send: async (target) => {
      const replies: Reply[] = [];
      for (let round = 0; round < 12; round += 1) {
        replies.push(...(await Promise.all([0, 1, 2, 3].map((i) => batch(target, 13, 1_000_000 + (round * 4 + i) * 1_300)))));
      }
      return replies;
    },
  },
  {
    name: 'many-batches-of-100-ids',
    expects: ['2xx', '503'],
    someExpect: ['2xx'],
    send: (target) => Promise.all(Array.from({ length: 100 }, (_, i) => batch(target, 1, 2_000_000 + i * 100))),
  },
  {
    name: 'many-creations',
    expects: ['2xx', '503'],
    someExpect: ['2xx'],
    send: ({ send, tokens }) =>
      Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          send({ method: 'GET', path: '/api/user', token: tokens.groups, body: { user_group_id: `crowd ${i}` } }),
        ),
      ),
  },
  {
    name: 'updates-of-one-group',
    expects: ['2xx', '503'],
    someExpect: ['2xx'],
    send: ({ send, tokens }) =>
      Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          send({ method: 'PUT', path: '/api/user', token: tokens.groups, body: { user_group_id: 'large', name: `n${i}` } }),
        ),
      ),
  },
  {
    name: 'many-long-documents',
    expects: ['2xx', '503'],
    someExpect: ['2xx'],
    // At the same time, another caller has a document checked, which must not take long.
    send: async ({ graphql, tokens }) => {
      const many = Array.from({ length: 50 }, () => graphql(validation(40_000), tokens.validate));
      const other = await graphql(validation(3_800), tokens.admin);
      const replies = await Promise.all(many);
      const isLate = other.outcome !== '2xx' || other.milliseconds > maxOtherMs;
      const text = `another caller's document: ${other.status} after ${Math.round(other.milliseconds)} ms`;
      return [...replies, isLate ? { ...other, outcome: 'timeout', text } : other];
    },
  },
];
