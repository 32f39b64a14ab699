import { tokenPrefixes } from '../../src/token-prefixes.ts';

/** An example, which is a tab. The name of its operation is the title of the tab. */
interface Example {
  readonly query: string;
  readonly variables: string | null;
}

function example(query: string, variables?: object): Example {
  return { query: query.trim(), variables: variables ? JSON.stringify(variables, null, 2) : null };
}

/** One for each task of the guides, in the order in which a newcomer meets them. */
export const examples: readonly Example[] = [
  example(
    `
# Paste an API token above, then press the button with the triangle.
# Run it twice: the second time "created" is false.
mutation GetOrCreate($input: GetOrCreateUserGroupInput!) {
  getOrCreateUserGroup(input: $input) {
    ... on GetOrCreateUserGroupPayload {
      created
      userGroup { teamId providedId name token }
    }
    ... on Error { code message }
    ... on InvalidInput { issues { path message } }
  }
}
`,
    { input: { providedId: 'acme', name: 'ACME' } },
  ),
  example(
    `
# An embed backend: which user group is viewing with this token?
# Take a token from the response of GetOrCreate.
query WhoIsViewing($token: String!) {
  userGroup(by: { token: $token }) {
    providedId
    name
    properties
    mapping { schemaId dataSource }
  }
}
`,
    { token: `${tokenPrefixes.userGroup}…` },
  ),
  example(
    `
# Changes the given fields only. mergeProperties follows RFC 7396: null removes a key.
mutation Update($providedId: String!, $name: String) {
  updateUserGroup(
    input: {
      by: { providedId: $providedId }
      name: $name
      mergeProperties: { plan: "pro", region: "eu" }
    }
  ) {
    ... on UpdateUserGroupPayload {
      userGroup { name properties updatedAt }
    }
    ... on Error { code message }
    ... on InvalidInput { issues { path message } }
  }
}
`,
    { providedId: 'acme', name: 'ACME Inc.' },
  ),
  example(
    `
# Replaces the token; the current one works for another hour.
mutation RotateToken($input: RotateUserGroupTokenInput!) {
  rotateUserGroupToken(input: $input) {
    ... on RotateUserGroupTokenPayload {
      userGroup { providedId token }
      previousTokenExpiresAt
    }
    ... on Error { code message }
    ... on InvalidInput { issues { path message } }
  }
}
`,
    { input: { currentToken: `${tokenPrefixes.userGroup}…`, graceSeconds: 3600 } },
  ),
  example(
    `
# The newest first. Pass endCursor as "after" to get the next page.
query Search($filter: UserGroupFilter, $after: String) {
  userGroups(first: 20, after: $after, filter: $filter) {
    totalCount
    nodes { teamId providedId name environmentTag createdAt }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    { filter: { search: 'acme' } },
  ),
  example(
    `
# Up to 1,000 user groups in one request; each has its own result.
mutation GetOrCreateMany($input: GetOrCreateUserGroupsInput!) {
  getOrCreateUserGroups(input: $input) {
    ... on GetOrCreateUserGroupsPayload {
      results {
        ... on GetOrCreateUserGroupPayload { created userGroup { providedId token } }
        ... on Error { code message }
      }
    }
    ... on Error { code message }
    ... on InvalidInput { issues { path message } }
  }
}
`,
    { input: { groups: [{ providedId: 'acme' }, { providedId: 'globex', name: 'Globex' }] } },
  ),
  example(
    `
# Requires an API token with the scope admin. The secret is shown only once.
mutation CreateApiToken($input: CreateApiTokenInput!) {
  createApiToken(input: $input) {
    ... on CreateApiTokenPayload {
      apiToken { id number name environmentTag scopes expiresAt }
      secret
    }
    ... on Error { code message }
    ... on InvalidInput { issues { path message } }
  }
}
`,
    { input: { name: 'embed backend', environmentTag: 'TESTING', scopes: ['GROUPS_RESOLVE'] } },
  ),
  example(
    `
# Checks the configuration file of a documentation site. This one lacks a comma.
query CheckConfig($input: DocsConfigInput!) {
  validateDocsConfig(input: $input) {
    valid
    diagnostics {
      code
      severity
      message
      range { start { line column } }
    }
  }
}
`,
    { input: { source: '{\n  "name": "Acme"\n  "navigation": []\n}' } },
  ),
  example(
    `
# A short-lived token that your page passes to the dashboard. Requires the scope embed:sign.
mutation EmbedToken($input: CreateEmbedTokenInput!) {
  createEmbedToken(input: $input) {
    ... on CreateEmbedTokenPayload { token expiresAt }
    ... on Error { code message }
    ... on InvalidInput { issues { path message } }
  }
}
`,
    { input: { by: { providedId: 'acme' }, expiresInSeconds: 900 } },
  ),
  example(`
# The latest changes, with who made them. Requires the scope audit:read.
query AuditLog {
  events(first: 20) {
    nodes { occurredAt type providedId actor { kind name } changes }
  }
}
`),
  example(`
# The requests of the last hour to this instance. Requires the scope metrics:read.
query LastHour {
  metrics {
    total {
      requests
      latency { p50Ms p99Ms }
      errors { code count }
    }
  }
}
`),
];
