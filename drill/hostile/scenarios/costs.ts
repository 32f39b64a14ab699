import type { HostileScenario } from '../hostile-scenario.ts';
import { aliases } from './introspection.ts';

/** A document of about `bytes` with a diagnostic every few characters. */
export const brokenDocument = (bytes: number) => `{"name":"A","navigation":[{"group":"B","pages":[${'1,'.repeat(bytes / 2)}1]}]}`;

/** Short documents that multiply work. */
export const costScenarios: readonly HostileScenario[] = [
  {
    name: 'names-of-long-lists',
    expects: ['4xx', '2xx'],
    send: async ({ graphql, tokens }) => {
      const source = `{${Array.from({ length: 1_100 }, (_, i) => `"k${i}":1`).join()}}`;
      const replies = [];
      for (const fields of ['__typename', 'range { start { __typename } end { __typename } }']) {
        const names = aliases(40, fields);
        const query = `query($s:String!){validateDocsConfig(input:{source:$s}){${aliases(20, 'diagnostics{...F}')}}} fragment F on DocsConfigDiagnostic{${names}}`;
        replies.push(await graphql({ query, variables: { s: source } }, tokens.validate));
      }
      return replies;
    },
  },
  {
    name: 'mutations-under-aliases',
    expects: ['4xx', '2xx'],
    send: async ({ graphql, tokens }) => {
      const field = 'getOrCreateUserGroup(input:{providedId:"large"}){...on GetOrCreateUserGroupPayload{userGroup{properties}}}';
      return [await graphql({ query: `mutation{${aliases(80, field)}}` }, tokens.groups)];
    },
  },
  {
    name: 'validate-one-value-often',
    send: async ({ graphql, tokens }) => {
      const query = `query($s:JSON!){${aliases(14, 'validateDocsConfig(input:{value:$s}){diagnostics{message suggestion pointer}}')}}`;
      const value = JSON.parse(brokenDocument(830_000)) as unknown;
      return [await graphql({ query, variables: { s: value } }, tokens.validate)];
    },
  },
];
