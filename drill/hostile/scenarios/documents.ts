import type { HostileScenario } from '../hostile-scenario.ts';

/** Sends each document in its own request, sequentially, without and with a credential, with which a body may be larger. */
const documents = (
  name: string,
  expects: NonNullable<HostileScenario['expects']>,
  ...queries: readonly string[]
): HostileScenario => ({
  name,
  expects,
  send: async ({ graphql, tokens }) => {
    const replies = [];
    for (const query of queries) replies.push(await graphql({ query }), await graphql({ query }, tokens.groups));
    return replies;
  },
});

const many = (count: number, text: (i: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, i) => text(i)).join(separator);

const members = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`v${i}`, i]));

/** Documents and parameters within the limits of size that are slow to lex, validate, plan or report on. */
export const documentScenarios: readonly HostileScenario[] = [
  // Selections that must all be compared with each other.
  documents(
    'overlapping-fragments',
    ['2xx', '4xx', 'errors'],
    `{${many(90, (i) => `...F${i}`)}} ${many(90, (i) => `fragment F${i} on Query{caller{name ...G${i}}} fragment G${i} on ApiToken{id}`)}`,
    `{${many(60, (i) => `caller{...F${i}}`)}} ${many(60, (i) => `fragment F${i} on ApiToken{${many(12, (k) => `a${k}:name`)}}`)}`,
    `{${many(99, () => `...{x(a:"""${'a\n'.repeat(9)}${'b'.repeat(500)}""")}`)}}`,
  ),
  // For each, the names that it might mean are sought.
  documents(
    'unknown-names',
    ['4xx'],
    `{${many(1_900, (i) => `nodez${i}`)}}`,
    `{${many(400, (i) => `userGroup(bye${i}:1){x}`)}}`,
    `{userGroup(by:{${many(600, (i) => `teamI${i}:1`)}}){name}}`,
    `query(${many(390, (i) => `$v${i}:Strin${i}`)}){__typename}`,
  ),
  {
    // As many of the largest as Yoga's own cache would keep.
    name: 'largest-documents',
    expects: ['2xx'],
    timeoutMs: 120_000,
    send: async ({ graphql, tokens }) => {
      const replies = [];
      for (let i = 0; i < 1_024; i += 1) {
        const fields = many(499, (k) => `a${k}:__typename`);
        replies.push(await graphql({ query: `{${fields}} #${i}${i % 2 ? 'x'.repeat(55_000) : ''}` }, tokens.groups));
      }
      return replies;
    },
  },
  {
    name: 'huge-parameters',
    expects: ['2xx', '4xx', 'errors'],
    send: async ({ graphql, send, tokens: { groups: token } }) => {
      const query = 'query($a:[ID!]!){nodes(ids:$a){id}}';
      const lists = [Array(250_000).fill(0), Array(200_000).fill(null), Array(120_000).fill({}), [Array(200_000).fill('')]];
      const replies = [];
      for (const body of [
        ...[...lists, 'x'.repeat(900_000)].map((a) => ({ query, variables: { a } })),
        { query: '{__typename}', variables: members },
        { query: 'query($a:UserGroupBy!){userGroup(by:$a){name}}', variables: { a: members } },
        { query, variables: { a: [] }, extensions: members },
        { query: '{__typename}', operationName: 'x'.repeat(900_000) },
        { query: '{__typename}', operationName: Array(200_000).fill(0) },
        { query: Array(200_000).fill(0) },
      ])
        replies.push(await graphql(body, token));
      replies.push(await send({ token, body: `[${'{"query":"{__typename}"},'.repeat(30_000)}{}]` }));
      replies.push(await send({ token, body: `{"query":"{__typename}","${'x'.repeat(900_000)}":1}` }));
      return replies;
    },
  },
];
