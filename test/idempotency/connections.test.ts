import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { schema } from '../../src/schema.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { untilWaiting } from '../support/hold-writes.ts';
import { apiTokenId } from '../support/node-id.ts';
import { createWebhook } from '../support/webhooks.ts';

/** As many as the gateway has connections. */
const count = 2;

let database: TestDatabase;
let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const small = connectDatabase({ connectionString: database.url }, { namedStatements: true, poolSize: count });
  gateway = await startGateway({ ...small, url: database.url });
  gateway.drain(); // no deliveries, which take connections, too
  admin = (await gateway.issue({ scopes: ['admin'] })).secret;
});
afterAll(async () => {
  await gateway.close();
  await gateway.database.close();
  await database.close();
});

/** What a mutation changes; each request has its own. */
interface Subject {
  readonly name: string;
  readonly teamId: number;
  readonly token: string;
  readonly eventId: string;
  readonly apiToken: string;
  readonly webhook: string;
}

let last = 0;
async function createSubject(): Promise<Subject> {
  last += 1;
  const name = `subject ${last}`;
  const { json } = await gateway.graphql(
    `mutation { getOrCreateUserGroup(input: { providedId: "${name}" }) { ... on GetOrCreateUserGroupPayload {
      userGroup { teamId token events { nodes { id } } } } } }`,
    undefined,
    { token: admin },
  );
  const { teamId, token, events } = json.data.getOrCreateUserGroup.userGroup;
  const { webhook } = await createWebhook(gateway, admin);
  const { id } = await gateway.issue();
  return { name, teamId, token, eventId: events.nodes[0].id, apiToken: apiTokenId(id), webhook: webhook.id };
}

// Fields that are looked up, each in a statement of its own.
const apiToken = 'apiToken { name expired }';
const event = `events(first: 1) { nodes { type actor { ${apiToken} } userGroup { name } } }`;
const group = `userGroup { token ${event} }`;
const by = ({ teamId }: Subject) => `by: { teamId: ${teamId} }`;
const deliveries = 'id body';

/** Of each mutation its arguments, and what is selected of its payload. */
const mutations: Readonly<Record<string, [args: (subject: Subject) => string, payload: string]>> = {
  getOrCreateUserGroup: [({ name }) => `input: { providedId: "new ${name}" }`, `created ${group}`],
  getOrCreateUserGroups: [
    ({ name }) => `input: { groups: [{ providedId: "${name}" }, { providedId: "bulk ${name}" }] }`,
    `results { ... on GetOrCreateUserGroupPayload { created ${group} } }`,
  ],
  updateUserGroup: [(subject) => `input: { ${by(subject)}, name: "renamed", mergeProperties: { a: 1 } }`, group],
  setUserGroupEnvironment: [(subject) => `input: { ${by(subject)}, environmentTag: CUSTOMER }`, group],
  rotateUserGroupToken: [({ token }) => `input: { currentToken: "${token}", graceSeconds: 60 }`, group],
  suspendUserGroup: [(subject) => `input: { ${by(subject)} }`, group],
  resumeUserGroup: [(subject) => `input: { ${by(subject)} }`, group],
  deleteUserGroup: [(subject) => `input: { ${by(subject)} }`, 'deletedId'],
  createEmbedToken: [(subject) => `input: { ${by(subject)} }`, 'token'],
  revokeEmbedTokens: [(subject) => `input: { ${by(subject)}, viewerId: "ada" }`, group],
  createApiToken: [({ name }) => `input: { name: "${name}", scopes: [GROUPS_READ], expiresInSeconds: 60 }`, apiToken],
  updateApiToken: [(subject) => `input: { id: "${subject.apiToken}", name: "renamed" }`, apiToken],
  rotateApiToken: [(subject) => `input: { id: "${subject.apiToken}" }`, apiToken],
  revokeApiToken: [(subject) => `input: { id: "${subject.apiToken}" }`, apiToken],
  createWebhook: [() => 'input: { url: "https://hooks.invalid/" }', 'webhook { url }'],
  updateWebhook: [({ webhook }) => `input: { id: "${webhook}", description: "changed" }`, 'webhook { url }'],
  rotateWebhookSecret: [({ webhook }) => `input: { id: "${webhook}", overlapSeconds: 60 }`, 'webhook { url }'],
  sendTestEvent: [({ webhook }) => `input: { id: "${webhook}" }`, `delivery { ${deliveries} }`],
  redeliverEvents: [
    ({ webhook, eventId }) => `webhook: "${webhook}", input: { ids: ["${eventId}"] }`,
    `deliveries { ${deliveries} }`,
  ],
  deleteWebhook: [({ webhook }) => `input: { id: "${webhook}" }`, 'deletedId'],
};

test('these are all mutations', () => {
  expect(new Set(Object.keys(mutations))).toEqual(new Set(Object.keys(schema.getMutationType()?.getFields() ?? {})));
});

test.each(Object.entries(mutations))(
  '%s: as many requests with keys as there are connections are all executed, with what their payloads look up',
  async (field, [args, payload]) => {
    await database.prisma.webhook.deleteMany(); // there may be 100
    await database.prisma.apiToken.updateMany({ where: { name: 'test' }, data: { expiresAt: new Date('2100-01-01') } });
    const subjects = [];
    for (let index = 0; index < count; index += 1) subjects.push(await createSubject());
    await database.prisma.apiToken.updateMany({ data: { expiresAt: new Date('2100-01-01') } });

    // Each has a connection when the others need another one.
    const holder = await database.pool.connect();
    await holder.query('begin; lock table idempotency_record in access exclusive mode');
    const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Payload`;
    const replies = subjects.map((subject) => {
      const result = `__typename ... on ${type} { ${payload} } ... on Error { code message }`;
      const document = `mutation { result: ${field}(${args(subject)}) { ${result} } }`;
      return gateway.graphql(document, undefined, { token: admin, headers: { 'idempotency-key': `${field}-${subject.teamId}` } });
    });
    try {
      await untilWaiting(database.pool, 'idempotency_record', count);
    } finally {
      holder.release(true);
    }
    for (const { status, json } of await Promise.all(replies)) {
      expect([status, json.errors]).toEqual([200, undefined]);
      expect(json.data.result).toMatchObject({ __typename: type });
      const { userGroup } = json.data.result;
      if (userGroup) expect(userGroup.events.nodes).toMatchObject([{ actor: { apiToken: { name: 'test', expired: false } } }]);
    }
  },
);
