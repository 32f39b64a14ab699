import type { Row } from '../row.ts';
import { aliases } from './introspection.ts';

/** Sends each document in its own request, sequentially, without and with a credential, with which a body may be larger. */
const documents = (name: string, expects: Row['expects'], ...queries: readonly string[]): Row => ({
  name,
  ...(expects && { expects }),
  send: async ({ graphql, tokens }) => {
    const replies = [];
    for (const query of queries) replies.push(await graphql({ query }), await graphql({ query }, tokens.groups));
    return replies;
  },
});

const many = (count: number, text: (i: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, i) => text(i)).join(separator);

/** Fragments that spread each other twice: the fields double with each. */
const doubling = (count: number) =>
  `{__schema{...F0}} ${many(count, (i) => (i + 1 < count ? `fragment F${i} on __Schema{a:types{name} ...F${i + 1} ...F${i + 1}}` : `fragment F${i} on __Schema{__typename}`))}`;

/** Fragments of one field each whose sub-selections must all be compared with each other. */
const overlapping = (count: number) =>
  `{${many(count, (i) => `...F${i}`)}} ${many(count, (i) => `fragment F${i} on Query{caller{name ...G${i}}} fragment G${i} on ApiToken{id}`)}`;

/** Documents below the limit of tokens that are nevertheless slow to lex, validate or plan. */
export const documentRows: readonly Row[] = [
  documents(
    'repeated-fields',
    ['2xx', '4xx', 'errors'],
    `{${'__typename '.repeat(1_990)}}`,
    `{${'caller{name}'.repeat(490)}}`,
    `{${'caller{id name scopes}'.repeat(300)}}`,
    `{${'__schema{queryType{name}}'.repeat(280)}}`,
  ),
  documents(
    'repeated-arguments',
    ['4xx', 'errors'],
    `{${many(200, (i) => `userGroup(by:{teamId:${i}}){name}`)}}`,
    `{${many(180, (i) => `nodes(ids:["${i}"]){id}`)}}`,
  ),
  documents(
    'overlapping-fragments',
    ['2xx', '4xx', 'errors'],
    overlapping(90),
    `{${many(60, (i) => `caller{...F${i}}`)}} ${many(60, (i) => `fragment F${i} on ApiToken{${many(12, (k) => `a${k}:name`)}}`)}`,
  ),
  documents('doubling-fragments', ['2xx', '4xx', 'errors'], doubling(16), doubling(60)),
  documents(
    'fragment-cycles',
    ['4xx'],
    `{...F0} ${many(150, (i) => `fragment F${i} on Query{...F${(i + 1) % 150}}`)}`,
    `{...F0} ${many(12, (i) => `fragment F${i} on Query{${many(12, (k) => `...F${k}`)}}`)}`,
  ),
  documents(
    'nested-fields',
    ['4xx'],
    `${'{caller'.repeat(900)}`,
    `{${'__schema{types{'.repeat(300)}name${'}}'.repeat(300)}}`,
    `{__type(name:"Query"){${'fields{type{'.repeat(200)}name${'}}'.repeat(200)}}}`,
  ),
  documents(
    'directives',
    ['2xx', '4xx'],
    `{__typename ${'@include(if:true)'.repeat(280)}}`,
    `{__typename ${'@a'.repeat(900)}}`,
    `{${many(200, (i) => `a${i}:__typename @skip(if:false)`)}}`,
  ),
  documents(
    'unknown-names',
    ['4xx'],
    `{${many(1_900, (i) => `nodez${i}`)}}`,
    `{${many(400, (i) => `userGroup(bye${i}:1){x}`)}}`,
    `{${'userGrou'.repeat(100_000)}}`,
    `{userGroup(by:{${many(600, (i) => `teamI${i}:1`)}}){name}}`,
    `query(${many(390, (i) => `$v${i}:Strin${i}`)}){__typename}`,
  ),
  documents(
    'many-operations',
    ['2xx', '4xx', 'errors'],
    many(480, (i) => `query A${i}{__typename}`),
    many(600, () => '{__typename}'),
    `query A{__typename} ${many(300, (i) => `fragment F${i} on Query{__typename}`)}`,
  ),
  documents(
    'many-variables',
    ['2xx', '4xx', 'errors'],
    `query(${many(480, (i) => `$v${i}:Int`)}){__typename}`,
    `query(${many(190, (i) => `$v${i}:[[[Int]]]`)}){__typename}`,
  ),
  documents(
    'long-tokens',
    ['2xx', '4xx', 'errors'],
    `{__typename} #${'x'.repeat(900_000)}`,
    `{__typename}${','.repeat(900_000)}`,
    `{__typename}${'\n'.repeat(400_000)}`,
    `{__type(name:"${'x'.repeat(900_000)}"){name}}`,
    `{__type(name:"${'\\u{1F600}'.repeat(80_000)}"){name}}`,
    `{__type(name:"""${'\n  '.repeat(240_000)}"""){name}}`,
    `{__type(name:"""${'\\"""'.repeat(120_000)}"""){name}}`,
    `{__type(name:"${'x'.repeat(900_000)}`,
    `{${'a'.repeat(900_000)}:__typename}`,
    `#${'\r'.repeat(500_000)}{`,
  ),
  documents(
    'errors-behind-lines',
    ['2xx', '4xx', 'errors'],
    `${'\n'.repeat(100_000)}{${many(100, (i) => `x${i}`)}}`,
    `${'\n'.repeat(1_900)}{${many(100, (i) => `x${i}`)}}`,
    `${'\n'.repeat(1_900)}{__typename ${many(100, (i) => `x${i}:userGroup(by:{token:"x"}){name}`)}}`,
    `#${'z'.repeat(60_000)}\n{${many(100, (i) => `x${i}`)}}`,
  ),
  documents(
    'long-aliases',
    ['4xx', '2xx'],
    `{__schema{types{fields{${'A'.repeat(60_000)}:name}}}}`,
    `{__schema{types{fields{${'A'.repeat(128)}:name}}}}`,
  ),
  documents(
    'overlapping-inline-fragments',
    ['4xx', 'errors'],
    `{${many(210, () => `...{x(a:"""${'a\n'.repeat(100)}""")}`)}}`,
    `{${many(99, () => `...{x(a:"""${'a\n'.repeat(9)}${'b'.repeat(500)}""")}`)}}`,
  ),
  documents(
    'deep-values',
    ['4xx', 'errors'],
    `{nodes(ids:${'['.repeat(900)}${']'.repeat(900)}){id}}`,
    `{validateDocsConfig(input:{value:${'{a:'.repeat(480)}1${'}'.repeat(480)}}){valid}}`,
    `{nodes(ids:${'['.repeat(900_000)}`,
    `query($a:${'['.repeat(900)}Int${']'.repeat(900)}){__typename}`,
  ),
  {
    name: 'huge-variables',
    expects: ['2xx', '4xx', 'errors'],
    send: async ({ graphql, tokens }) => {
      const query = 'query($a:[ID!]!){nodes(ids:$a){id}}';
      const values: unknown[] = [
        Array(250_000).fill(0),
        Array(200_000).fill(null),
        Array(120_000).fill({}),
        'x'.repeat(900_000),
        [Array(200_000).fill('')],
      ];
      const replies = [];
      for (const a of values) replies.push(await graphql({ query, variables: { a } }, tokens.groups));
      replies.push(
        await graphql(
          {
            query: '{__typename}',
            variables: Object.fromEntries(
              Array(60_000)
                .fill(0)
                .map((_, i) => [`v${i}`, i]),
            ),
          },
          tokens.groups,
        ),
      );
      replies.push(
        await graphql(
          {
            query: 'query($a:UserGroupBy!){userGroup(by:$a){name}}',
            variables: {
              a: Object.fromEntries(
                Array(60_000)
                  .fill(0)
                  .map((_, i) => [`v${i}`, i]),
              ),
            },
          },
          tokens.groups,
        ),
      );
      replies.push(
        await graphql(
          {
            query,
            variables: { a: [] },
            extensions: Object.fromEntries(
              Array(60_000)
                .fill(0)
                .map((_, i) => [`v${i}`, i]),
            ),
          },
          tokens.groups,
        ),
      );
      return replies;
    },
  },
  {
    name: 'distinct-documents',
    expects: ['2xx'],
    send: async ({ graphql }) => {
      const replies = [];
      for (let i = 0; i < 150; i += 1) replies.push(await graphql({ query: `{${aliases(300, `__typename`)} b${i}:__typename}` }));
      return replies;
    },
  },
  {
    name: 'operation-names',
    expects: ['2xx', '4xx', 'errors'],
    send: async ({ graphql, send, tokens: { groups: token } }) => [
      await graphql({ query: '{__typename}', operationName: 'x'.repeat(900_000) }, token),
      await graphql({ query: '{__typename}', operationName: Array(200_000).fill(0) }, token),
      await graphql({ query: Array(200_000).fill(0) }, token),
      await send({ token, body: `[${'{"query":"{__typename}"},'.repeat(30_000)}{}]` }),
      await send({ token, body: `{"query":"{__typename}","${'x'.repeat(900_000)}":1}` }),
    ],
  },
];
