import { expect } from 'vitest';
import type { TestGateway } from './gateway.ts';

/** Every field of a group. */
export const groupFields =
  'id teamId providedId name token environmentTag properties mapping { schemaId dataSource } createdAt updatedAt version';

const group = `userGroup { ${groupFields} }`;

/** The results of a bulk call cannot have large fields. */
const smallGroup = `userGroup { ${groupFields.replace('properties mapping { schemaId dataSource } ', '')} }`;

const failure = '... on Error { code message } ... on InvalidInput { issues { path message } }';
const mismatch = ` ... on VersionMismatch { ${group} }`;

const document = (field: string, payload: string, more = ''): string => {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
  return `mutation ($input: ${type}Input!) { result: ${field}(input: $input) { __typename ... on ${type}Payload { ${payload} } ${failure}${more} } }`;
};

const documents = {
  getOrCreateUserGroup: document('getOrCreateUserGroup', `created ${group}`),
  getOrCreateUserGroups: document(
    'getOrCreateUserGroups',
    `results { __typename ... on GetOrCreateUserGroupPayload { created ${smallGroup} } ${failure} }`,
  ),
  updateUserGroup: document('updateUserGroup', group, mismatch),
  setUserGroupEnvironment: document('setUserGroupEnvironment', group, mismatch),
  rotateUserGroupToken: document('rotateUserGroupToken', `previousTokenExpiresAt ${group}`, mismatch),
  suspendUserGroup: document('suspendUserGroup', group, mismatch),
  deleteUserGroup: document('deleteUserGroup', 'deletedId', mismatch),
};

/** A mutation of user groups. */
export type Mutation = keyof typeof documents;

/** Sends a mutation that selects everything, and returns its result: the payload or an error, each with its `__typename`. */
export async function mutate(gateway: TestGateway, mutation: Mutation, input: object, token = gateway.token) {
  const { status, json } = await gateway.graphql(documents[mutation], { input }, { token });
  expect([status, json.errors]).toEqual([200, undefined]);
  return json.data.result;
}
