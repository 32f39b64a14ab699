import type { Row } from '../row.ts';
import { aliases } from './introspection.ts';

/** A document of about `bytes` with a diagnostic every few characters. */
export const brokenDocument = (bytes: number) => `{"name":"A","navigation":[{"group":"B","pages":[${'1,'.repeat(bytes / 2)}1]}]}`;

const createGroup = `mutation ($input: GetOrCreateUserGroupInput!) {
  getOrCreateUserGroup(input: $input) { ... on Error { code message } }
}`;

/** Short documents that multiply work: lists, aliases, large values. */
export const costRows: readonly Row[] = [
  {
    name: 'nodes-times-aliases',
    send: async ({ graphql, tokens, data }) => [
      await graphql(
        {
          query: `query($ids:[ID!]!){nodes(ids:$ids){...on UserGroup{${aliases(600, 'properties')}}}}`,
          variables: { ids: Array(100).fill(data.large.id) },
        },
        tokens.groups,
      ),
    ],
  },
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
    name: 'aliases-times-aliases',
    send: async ({ graphql, tokens, data }) => [
      await graphql(
        {
          query: `query($id:ID!){${aliases(80, 'node(id:$id){...F}')}} fragment F on UserGroup{${aliases(200, 'properties')}}`,
          variables: { id: data.large.id },
        },
        tokens.groups,
      ),
    ],
  },
  {
    name: 'nodes-under-aliases',
    expects: ['4xx', 'errors'],
    send: async ({ graphql, tokens, data }) => [
      await graphql(
        {
          query: `query($ids:[ID!]!){${aliases(100, 'nodes(ids:$ids){...on UserGroup{properties}}')}}`,
          variables: { ids: Array(100).fill(data.large.id) },
        },
        tokens.groups,
      ),
      await graphql(
        { query: 'query($ids:[ID!]!){nodes(ids:$ids){id}}', variables: { ids: Array(40_000).fill(data.large.id) } },
        tokens.groups,
      ),
    ],
  },
  {
    name: 'nodes-in-a-literal',
    send: async ({ graphql, tokens, data }) => [
      await graphql(
        {
          query: `{nodes(ids:[${Array(100).fill(`"${data.large.id}"`).join()}]){...on UserGroup{${aliases(500, 'properties')}}}}`,
        },
        tokens.groups,
      ),
    ],
  },
  {
    name: 'nodes-by-default-value',
    send: async ({ graphql, tokens, data }) => [
      await graphql(
        {
          query: `query($ids:[ID!]!=[${Array(100).fill(`"${data.large.id}"`).join()}]){nodes(ids:$ids){...on UserGroup{${aliases(500, 'properties')}}}}`,
        },
        tokens.groups,
      ),
    ],
  },
  {
    name: 'mutations-under-aliases',
    expects: ['4xx', '2xx'],
    send: async ({ graphql, tokens }) => [
      await graphql(
        {
          query: `mutation{${aliases(80, 'getOrCreateUserGroup(input:{providedId:"large"}){...on GetOrCreateUserGroupPayload{userGroup{properties}}}')}}`,
        },
        tokens.groups,
      ),
    ],
  },
  {
    // Fields that are resolved at once and fields that wait, beyond the largest response, in lists that may not have null.
    name: 'pages-of-large-items',
    expects: ['4xx', '2xx'],
    someExpect: ['2xx'],
    send: async ({ graphql, tokens }) => {
      const mapping = Array.from({ length: 1_000 }, (_, i) => ({
        schemaId: `${i}`.padEnd(255, '.'),
        dataSource: 's'.repeat(255),
      }));
      const replies = [];
      for (let i = 0; i < 40; i += 1) {
        const variables = { input: { providedId: `large mapping ${i}`, mapping } };
        replies.push(await graphql({ query: createGroup, variables }, tokens.groups));
      }
      for (const field of [
        'events(first: 40) { nodes { id changes apiToken { id name } actor { kind name apiToken { id } } userGroup { ...G } type } }',
        'events(first: 40) { edges { cursor node { type actor { kind apiToken { name } } userGroup { ...G } changes } } }',
        'userGroups(first: 40) { nodes { ...G token createdAt } }',
      ]) {
        const query = `{ ${field} } fragment G on UserGroup { mapping { schemaId dataSource } name id environmentTag properties }`;
        const reply = await graphql({ query }, tokens.admin);
        // Otherwise the pages are not as large as they must be.
        replies.push(reply.code === 'QUERY_TOO_COSTLY' ? reply : { ...reply, outcome: 'unclear' as const });
      }
      return replies;
    },
  },
  {
    name: 'validate-14-times-20',
    send: async ({ graphql, tokens }) => {
      const sources = Array(20).fill({ source: '$' });
      const body = JSON.stringify({
        query: `query($s:[DocsConfigInput!]!){${aliases(14, 'validateDocsConfigs(inputs:$s){diagnostics{message}}')}}`,
        variables: { s: sources },
      });
      // Twenty documents in one body cannot be larger than a twentieth of it.
      const source = JSON.stringify(brokenDocument(40_000)).slice(1, -1);
      const text = body.replaceAll('"$"', () => `"${source}"`);
      return [await graphql(Buffer.from(text), tokens.validate)];
    },
  },
  {
    name: 'validate-one-source-often',
    send: async ({ graphql, tokens }) => {
      const list = Array(20).fill('{source:$s}').join();
      const query = `query($s:String!){${aliases(14, `validateDocsConfigs(inputs:[${list}]){diagnostics{message}}`)}}`;
      return [await graphql({ query, variables: { s: brokenDocument(830_000) } }, tokens.validate)];
    },
  },
  {
    name: 'validate-one-value-often',
    send: async ({ graphql, tokens }) => {
      const list = Array(20).fill('{value:$s}').join();
      const query = `query($s:JSON!){${aliases(14, `validateDocsConfigs(inputs:[${list}]){diagnostics{message suggestion pointer}}`)}}`;
      const value = JSON.parse(brokenDocument(830_000)) as unknown;
      return [await graphql({ query, variables: { s: value } }, tokens.validate)];
    },
  },
];
