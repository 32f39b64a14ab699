import type { SeededData } from './row.ts';

/** The maximum size of a group's properties in bytes, minus that of braces and names. */
const propertiesBytes = 65_536 - 20;

const query = `mutation ($input: GetOrCreateUserGroupInput!) {
  getOrCreateUserGroup(input: $input) {
    ... on GetOrCreateUserGroupPayload { userGroup { id teamId providedId token } }
    ... on Error { code message }
  }
}`;

/** Stores the groups that the rows use. */
export async function seed(port: number, token: string): Promise<SeededData> {
  const input = { providedId: 'large', properties: { text: 'x'.repeat(propertiesBytes) } };
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { input } }),
  });
  const text = await response.text();
  const { data } = JSON.parse(text) as { data?: { getOrCreateUserGroup?: { userGroup?: SeededData['large'] } } };
  const large = data?.getOrCreateUserGroup?.userGroup;
  if (!large) throw new Error(`Could not store the group with large properties: ${text}`);
  return { large };
}
