import { headerScenarios } from './headers.ts';
import { type HostileRequests, hostile, type Target } from './hostile.ts';
import type { Result } from './result.ts';
import { slowScenarios } from './slow.ts';

const many = (count: number, text: (i: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, i) => text(i)).join(separator);

/** The same selection `count` times, under different aliases. */
const aliases = (count: number, field: string) => many(count, (i) => `a${i}:${field}`);

/** Fragments each of which spreads the next under 50 aliases. */
const breadth =
  `{__schema{types{...A}}} fragment A on __Type{${aliases(50, 'fields{...B}')}} ` +
  `fragment B on __Field{${aliases(50, 'type{...C}')}} fragment C on __Type{${aliases(50, 'fields{...D}')}} ` +
  `fragment D on __Field{${aliases(50, 'name')}}`;

const manyTypes = `__schema{types{${aliases(160, 'fields{type{fields{name}}}')}}}`;

const conditional = `query($a:Boolean!){__schema{types @include(if:$a){${aliases(70, 'fields{...F @skip(if:false)}')}}}}
  fragment F on __Field{${aliases(70, 'type{name fields{name}}')}}`;

/** Sends each document in its own request, sequentially, without and with a credential, with which a body may be larger. */
const documents =
  (...queries: readonly string[]): HostileRequests['send'] =>
  async ({ graphql, token }) => {
    const results: Result[] = [];
    for (const query of queries) results.push(await graphql({ query }), await graphql({ query }, token));
    return results;
  };

const members = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`v${i}`, i]));

async function sendHugeParameters({ graphql, post, token }: Target): Promise<Result[]> {
  const query = 'query($a:[ID!]!){nodes(ids:$a){id}}';
  const lists = [Array(250_000).fill(0), Array(200_000).fill(null), Array(120_000).fill({}), [Array(200_000).fill('')]];
  const results: Result[] = [];
  for (const body of [
    ...[...lists, 'x'.repeat(900_000)].map((a) => ({ query, variables: { a } })),
    { query: '{__typename}', variables: members },
    { query: 'query($a:UserGroupBy!){userGroup(by:$a){name}}', variables: { a: members } },
    { query, variables: { a: [] }, extensions: members },
    { query: '{__typename}', operationName: 'x'.repeat(900_000) },
    { query: Array(200_000).fill(0) },
  ])
    results.push(await graphql(body, token));
  results.push(await post({ token, body: `[${'{"query":"{__typename}"},'.repeat(30_000)}{}]` }));
  results.push(await post({ token, body: `{"query":"{__typename}","${'x'.repeat(900_000)}":1}` }));
  return results;
}

const validation =
  'query($s:String!,$o:DocsConfigOptions){validateDocsConfig(input:{source:$s},options:$o){valid diagnostics{code message}}}';
const keys = (count: number, key: (i: number) => string) => `{${many(count, (i) => `"${key(i)}":1`, ',')}}`;

/** Hostile requests, in the order in which they are sent. */
const requests: readonly HostileRequests[] = [
  {
    name: 'introspection',
    summary: 'introspection that multiplies with the size of the schema, without a credential',
    send: ({ graphql }) =>
      Promise.all([
        graphql({ query: breadth }),
        graphql({ query: `{__schema{types{${aliases(8, `fields{${aliases(20, 'type{name kind fields{name}}')}}`)}}}}` }),
        graphql({ query: `query A{__typename} query B{${manyTypes}}`, operationName: 'B' }),
        graphql({ query: `mutation A{__typename} mutation B{${manyTypes}}`, operationName: 'B' }),
        graphql({ query: conditional, variables: { a: true } }),
      ]),
  },
  {
    name: 'overlapping-fragments',
    summary: 'selections that must all be compared with each other',
    expects: ['2xx', '4xx', 'errors'],
    send: documents(
      `{${many(90, (i) => `...F${i}`)}} ${many(90, (i) => `fragment F${i} on Query{caller{name ...G${i}}} fragment G${i} on ApiToken{id}`)}`,
      `{${many(60, (i) => `caller{...F${i}}`)}} ${many(60, (i) => `fragment F${i} on ApiToken{${many(12, (k) => `a${k}:name`)}}`)}`,
      `{${many(99, () => `...{x(a:"""${'a\n'.repeat(9)}${'b'.repeat(500)}""")}`)}}`,
    ),
  },
  {
    name: 'unknown-names',
    summary: 'names for each of which a similar one may be sought',
    send: documents(
      `{${many(1_900, (i) => `nodez${i}`)}}`,
      `{${many(400, (i) => `userGroup(bye${i}:1){x}`)}}`,
      `{userGroup(by:{${many(600, (i) => `teamI${i}:1`)}}){name}}`,
      `query(${many(390, (i) => `$v${i}:Strin${i}`)}){__typename}`,
    ),
  },
  {
    name: 'largest-documents',
    summary: "as many of the largest documents as Yoga's own cache would keep",
    expects: ['2xx'],
    async send({ graphql, token }) {
      const results: Result[] = [];
      for (let i = 0; i < 1_024; i += 1)
        results.push(await graphql({ query: `{${aliases(499, '__typename')}} #${i}${'x'.repeat(i % 2 ? 55_000 : 0)}` }, token));
      return results;
    },
  },
  {
    name: 'huge-parameters',
    summary: 'parameters within the limits of size that are slow to read',
    expects: ['2xx', '4xx', 'errors'],
    send: sendHugeParameters,
  },
  {
    name: 'body-of-members',
    summary: 'bodies of 1 MiB that are slow to parse, over 32 connections, with and without a credential',
    expects: ['4xx', '503'],
    someExpect: ['4xx'],
    send({ post, token }) {
      const body = Buffer.from(keys(90_000, (i) => `m${i}`));
      const headers = { accept: 'application/graphql-response+json' };
      return Promise.all(Array.from({ length: 32 }, (_, i) => post({ body, headers, token: i % 2 ? token : undefined })));
    },
  },
  {
    name: 'findings',
    summary: 'configuration files with a finding every few characters',
    expects: ['2xx'],
    maxReplyMs: 1_000, // about ten times what the slowest takes
    async send({ graphql, token }) {
      const results: Result[] = [];
      for (const s of [
        `{"name":"A","navigation":[{"group":"B","pages":[${'1,'.repeat(125_000)}1]}]}`,
        keys(20_000, (i) => `k${i}`),
        keys(25_000, () => 'name'),
        `[${'tru,'.repeat(60_000)}]`,
      ])
        results.push(await graphql({ query: validation, variables: { s, o: { files: ['a.mdx', 'b.svg'] } } }, token));
      return results;
    },
  },
  ...headerScenarios,
  ...slowScenarios,
];

/** Every scenario of hostile requests. */
export const hostileScenarios = requests.map(hostile);
