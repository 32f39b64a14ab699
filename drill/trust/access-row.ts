import {
  type AccessTarget,
  fieldOf,
  openRequests,
  operationNames,
  prepareAccess,
  type Trial,
  tryOpenRequest,
  tryOperation,
} from '../../test/support/access.ts';
import { type AccessGateway, issueCredentials, issueFurtherCredentials } from '../../test/support/credentials.ts';
import { routes } from '../../test/support/openapi.ts';
import { operations, pages, restOperations } from '../../test/support/operations.ts';
import { sendRequest } from '../../test/support/request.ts';
import type { FaultRow } from '../faults/fault-row.ts';
import { Instance } from '../faults/instance.ts';

const rootFields = '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }';

/** Every root field and every route of the gateway that no request here is about. */
async function uncovered(gateway: AccessGateway): Promise<string[]> {
  const { json } = await gateway.send('POST', '/graphql', { token: null, body: { query: rootFields } });
  const { queryType, mutationType } = json.data.__schema;
  const fields: string[] = [...queryType.fields, ...mutationType.fields].map(({ name }) => name);
  const covered = new Set(Object.keys(operations).map(fieldOf));
  const requests = routes
    .filter(({ path }) => path !== '/graphql' && !(path in pages))
    .flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`));
  return [...fields.filter((name) => !covered.has(name)), ...requests.filter((name) => !(name in restOperations))];
}

/** Whether an operation may have an Idempotency-Key, with which it is executed in another way. */
const takesKey = (name: string): boolean =>
  operations[name]
    ?.document({ id: '', teamId: 0, providedId: '', token: '', event: '', spare: { rotated: 0, revoked: 0 } })
    .startsWith('mutation') ?? name.endsWith('/api/user');

/** The other paths of an operation's route. */
const aliasesOf = (name: string): readonly string[] => routes.find(({ path }) => name.split(' ')[1] === path)?.aliases ?? [];

/** Every request with one credential. */
async function* trialsOf(target: AccessTarget, credential: Parameters<typeof tryOperation>[2]): AsyncGenerator<Trial> {
  for (const name of operationNames) {
    yield await tryOperation(target, name, credential);
    if (takesKey(name)) yield await tryOperation(target, name, credential, { headers: { 'idempotency-key': `"${name}"` } });
    for (const path of aliasesOf(name)) yield await tryOperation(target, name, credential, { path });
  }
  for (const request of openRequests) yield await tryOpenRequest(target, request, credential);
}

/** Every operation with every kind of credential. */
export const accessRow: FaultRow = {
  name: 'access',
  summary: 'every operation with every kind of credential: who is let in, what is returned, and what changes',
  async run(context) {
    const instance = new Instance(context);
    const { port } = await instance.start();
    const url = `http://127.0.0.1:${port}`;
    await instance.withDatabase(async (database) => {
      const gateway: AccessGateway = { database, send: (...request) => sendRequest(url, ...request) };
      const target = await prepareAccess(gateway);
      const credentials = [...(await issueCredentials(gateway, target.acme.token)), ...(await issueFurtherCredentials(gateway))];
      const faults: Trial[] = [];
      let requests = 0;
      let admitted = 0;
      for (const credential of credentials) {
        for await (const trial of trialsOf(target, credential)) {
          requests += 1;
          if (trial.outcome === trial.expected && trial.outcome === 'success') admitted += 1;
          if (trial.outcome !== trial.expected) faults.push(trial);
        }
      }
      const wrongAdmissions = faults.filter(({ isWrongAdmission }) => isWrongAdmission).length;
      const wrongRefusals = faults.length - wrongAdmissions;
      const counts = { credentials: credentials.length, operations: operationNames.length + openRequests.length };
      context.totals.access = { ...counts, requests, wrongAdmissions, wrongRefusals };
      context.figure(
        `${counts.credentials} credentials × ${counts.operations} operations: ${requests} requests, ${wrongAdmissions} wrong admissions, ${wrongRefusals} wrong refusals; ${admitted} operations were permitted and succeeded`,
      );
      for (const { operation, credential, expected, outcome } of faults.slice(0, 10))
        context.expect(false, `${operation} with ${credential}: ${outcome} instead of ${expected}`);
      const missing = await uncovered(gateway);
      context.expect(missing.length === 0, `no request is about ${missing.join(', ')}`);
      context.expect(admitted > counts.operations, 'hardly any operation succeeded');
    });
  },
};
