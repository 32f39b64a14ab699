import type { Row } from '../row.ts';

/** The same selection `count` times, under different aliases. */
export const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(' ');

/** Fragments of which each spreads the next under several aliases. */
function breadth(width: number): string {
  return (
    `{__schema{types{...A}}} fragment A on __Type{${aliases(width, 'fields{...B}')}} ` +
    `fragment B on __Field{${aliases(width, 'type{...C}')}} fragment C on __Type{${aliases(width, 'fields{...D}')}} ` +
    `fragment D on __Field{${aliases(width, 'name')}}`
  );
}

const loop = (depth: number) => `{__type(name:"DocsConfig"){${'fields{type{ofType{'.repeat(depth)}name${'}}}'.repeat(depth)}}}`;

/** Introspection, which needs no credential and multiplies with the size of the schema. */
export const introspectionRows: readonly Row[] = [
  { name: 'introspection-breadth-20', send: async ({ graphql }) => [await graphql({ query: breadth(20) })] },
  { name: 'introspection-breadth-50', send: async ({ graphql }) => [await graphql({ query: breadth(50) })] },
  {
    name: 'introspection-aliases',
    send: async ({ graphql }) => [
      await graphql({ query: `{${aliases(80, '__schema{types{fields{name type{name fields{name}}}}}')}}` }),
    ],
  },
  {
    name: 'introspection-inline',
    send: async ({ graphql }) => [
      await graphql({
        query: `{__schema{types{${aliases(8, `fields{${aliases(20, 'type{name kind fields{name}}')}}`)}}}}`,
      }),
    ],
  },
  {
    name: 'introspection-in-operations',
    send: async ({ graphql }) => [
      await graphql({
        query: `query A{__typename} query B{__schema{types{${aliases(160, 'fields{type{fields{name}}}')}}}}`,
        operationName: 'B',
      }),
      await graphql({
        query: `mutation A{__typename} mutation B{__schema{types{${aliases(160, 'fields{type{fields{name}}}')}}}}`,
        operationName: 'B',
      }),
    ],
  },
  {
    name: 'introspection-type-loop',
    expects: ['2xx', '4xx'],
    send: async ({ graphql }) => [
      await graphql({ query: loop(6) }),
      await graphql({ query: `{${aliases(60, '__type(name:"DocsConfig"){fields{type{fields{type{name kind}}}}}')}}` }),
    ],
  },
  {
    name: 'introspection-with-variables',
    send: async ({ graphql }) => [
      await graphql({
        query: `query($a:Boolean!){__schema{types @include(if:$a){${aliases(70, 'fields{...F @skip(if:false)}')}}}} fragment F on __Field{${aliases(70, 'type{name fields{name}}')}}`,
        variables: { a: true },
      }),
    ],
  },
  {
    name: 'introspection-by-get',
    send: async ({ send }) => [
      await send({
        method: 'GET',
        path: `/graphql?query=${encodeURIComponent(breadth(20))}`,
        headers: { accept: 'application/json' },
      }),
    ],
  },
  {
    name: 'introspection-repeated',
    // The document is cached from the first request on, if it is executed at all.
    send: async ({ graphql }) => {
      const replies = [];
      for (let i = 0; i < 8; i += 1) replies.push(await graphql({ query: breadth(12) }));
      return replies;
    },
  },
];
