import type { HostileScenario } from '../hostile-scenario.ts';

/** The same selection `count` times, under different aliases. */
export const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(' ');

/** Fragments each of which spreads the next under several aliases. */
const breadth = (width: number) =>
  `{__schema{types{...A}}} fragment A on __Type{${aliases(width, 'fields{...B}')}} ` +
  `fragment B on __Field{${aliases(width, 'type{...C}')}} fragment C on __Type{${aliases(width, 'fields{...D}')}} ` +
  `fragment D on __Field{${aliases(width, 'name')}}`;

const many = `__schema{types{${aliases(160, 'fields{type{fields{name}}}')}}}`;
/** Introspection, which needs no credential and multiplies with the size of the schema. */
export const introspectionScenarios: readonly HostileScenario[] = [
  {
    name: 'introspection',
    send: async ({ graphql }) => {
      const conditional = `query($a:Boolean!){__schema{types @include(if:$a){${aliases(70, 'fields{...F @skip(if:false)}')}}}} fragment F on __Field{${aliases(70, 'type{name fields{name}}')}}`;
      return [
        await graphql({ query: breadth(50) }),
        await graphql({ query: `{__schema{types{${aliases(8, `fields{${aliases(20, 'type{name kind fields{name}}')}}`)}}}}` }),
        await graphql({ query: `query A{__typename} query B{${many}}`, operationName: 'B' }),
        await graphql({ query: `mutation A{__typename} mutation B{${many}}`, operationName: 'B' }),
        await graphql({ query: conditional, variables: { a: true } }),
      ];
    },
  },
];
