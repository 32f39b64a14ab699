import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { digitsOf, type Groups, rowOf, tokenLength } from './rows.ts';

/** How many groups a page of `gql-list` and `gql-list-unshared` has. */
export const pageLength = 20;

/** A text of the length of a token. */
export const anyToken = `${tokenPrefixes.userGroup}${'0'.repeat(tokenLength - tokenPrefixes.userGroup.length)}`;
/** The group of a response of the legacy API; empty if there is none. */
export const userGroupOf = (response: unknown): Record<string, unknown> =>
  (response as { user_group?: Record<string, unknown> } | null)?.user_group ?? {};
/** Whether a value is a user group token. */
export const isToken = (token: unknown) =>
  typeof token === 'string' && token.startsWith(tokenPrefixes.userGroup) && /^\w{40}$/.test(token);

const graphqlGroup = (subject: number, token: string) => {
  const { teamId, providedId, name, environment } = rowOf(subject);
  return { teamId, providedId, name, token, environmentTag: environment.toUpperCase() };
};
/** The response of `gql-token`. */
export const graphqlResponse = (subject: number, token: string) => ({ data: { userGroup: graphqlGroup(subject, token) } });
/** The response of `gql-rotate-keyed`. */
export const graphqlRotateResponse = (subject: number, token: string) => ({
  data: { rotateUserGroupToken: { userGroup: graphqlGroup(subject, token) } },
});

/** A page of the groups of an environment, newest first. */
export const listResponse = (newest: number, tokenOf: (subject: number) => string) => {
  const subjects = Array.from({ length: pageLength }, (_, place) => newest - 2 * place);
  return { data: { userGroups: { nodes: subjects.map((subject) => graphqlGroup(subject, tokenOf(subject))) } } };
};

/** The response of `rest-get`. */
export const getResponse = (subject: number, token: string) => {
  const { teamId, providedId, name, properties } = rowOf(subject);
  return { success: 1, new_user_group: false, user_group: { team_id: teamId, token, name, provided_id: providedId, properties } };
};

/** The response of `rest-create`. */
export const createResponse = (subject: number, teamId: unknown, token: unknown) => {
  const [name, provided_id] = [`Fresh ${digitsOf(subject)}`, `fresh-${digitsOf(subject)}`];
  return { success: 1, new_user_group: true, user_group: { team_id: teamId, token, name, provided_id, properties: null } };
};

/** The response of `rest-rotate`. */
export const rotateResponse = (subject: number, token: unknown) => {
  const { teamId, providedId, name, environment } = rowOf(subject);
  const user_group = { team_id: teamId, token, name, provided_id: providedId, api_environment_tag: environment };
  return { success: 1, user_group };
};

/** The response of `rest-update`. */
export const updateResponse = (subject: number, revision: number, token: unknown) => {
  const { teamId, providedId, environment } = rowOf(subject);
  const [name, properties] = [`Name ${revision}`, { country: 'BE', revision }];
  const user_group = { team_id: teamId, token, name, provided_id: providedId, properties, api_environment_tag: environment };
  return { success: 1, user_group };
};

/** The token of a response to a rotation, or what it must be instead. */
export const rotatedToken = (groups: Groups, subject: number, token: unknown): string =>
  isToken(token) && token !== groups.token(subject) ? String(token) : 'a new token';
