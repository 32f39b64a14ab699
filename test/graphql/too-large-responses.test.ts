import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { enlargeStored } from '../support/large-groups.ts';

let gateway: TestGateway;
let token: string;
let ids: string[];
beforeAll(async () => {
  gateway = await startGateway();
  ({ secret: token } = await gateway.issue({ scopes: ['groups:read', 'groups:write', 'audit:read'] }));
  const groups = await Promise.all(Array.from({ length: 40 }, (_, index) => createGroup(`group ${index}`)));
  ids = groups.map(({ json }) => json.data.getOrCreateUserGroup.userGroup.id);
  await enlargeStored(gateway);
});
afterAll(() => gateway.close());

const createGroup = (providedId: string) =>
  gateway.graphql(
    `mutation ($input: GetOrCreateUserGroupInput!) { getOrCreateUserGroup(input: $input) {
      ... on GetOrCreateUserGroupPayload { userGroup { id } } } }`,
    { input: { providedId } },
    { token },
  );

/** Pages that are larger than a response may be, with fields that are resolved at once, and others that wait. */
const queries = {
  'a page of the audit log': 'events(first: 40) { nodes { ...E } }',
  'the edges of the audit log': 'events(first: 40) { edges { cursor node { ...E } } }',
  'a page of user groups': 'userGroups(first: 40) { nodes { ...G } }',
  'user groups by their ids': 'nodes(ids: $ids) { id ...G }',
};
const fragments = {
  E: `fragment E on Event {
    id changes apiToken { id name } actor { kind name apiToken { id } } userGroup { ...G } type
  }`,
  G: 'fragment G on UserGroup { mapping { schemaId dataSource } token id name createdAt environmentTag properties }',
};

// A promise that is rejected without a handler is a defect, which a gateway logs.
test.each(Object.entries(queries))('%s that is too large is refused, and nothing of it fails later', async (_, field) => {
  const unhandled: unknown[] = [];
  const report = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', report);
  onTestFinished(() => void process.off('unhandledRejection', report));
  const used = Object.entries(fragments).filter(([name]) => name === 'G' || field.includes(`...${name}`));
  const head = field.includes('$ids') ? 'query ($ids: [ID!]!)' : '';
  const document = `${head} { ${field} } ${used.map(([, text]) => text).join(' ')}`;
  for (let i = 0; i < 2; i += 1) {
    const { status, json } = await gateway.graphql(document, field.includes('$ids') ? { ids } : {}, { token });
    expect([status, json]).toMatchObject([400, { errors: [{ message: expect.stringMatching(/^The response exceeds/) }] }]);
  }
  expect((await gateway.graphql('{ caller { id } }', {}, { token })).status).toBe(200);
  expect(unhandled).toEqual([]);
});
