import { openRequests, operationNames, prepareAccess, type Trial, tryOpenRequest, tryOperation } from '../test/support/access.ts';
import { type AccessGateway, issueFurtherCredentials } from '../test/support/credentials.ts';
import { sendRequest } from '../test/support/request.ts';
import { createDrill } from './drill.ts';
import { Instance } from './instance.ts';
import { runScenarios, type Scenario } from './scenario.ts';

/** Every operation with every credential that `test/contract/access.test.ts` leaves out, which has one of each kind. */
const accessScenario: Scenario = {
  name: 'access',
  summary: 'every operation with API tokens in wrong places, with pairs of scopes, and of every environment',
  async run(context) {
    const instance = new Instance(context);
    const { port } = await instance.start();
    const url = `http://127.0.0.1:${port}`;
    await instance.withDatabase(async (database) => {
      const gateway: AccessGateway = { database, send: (...request) => sendRequest(url, ...request) };
      const target = await prepareAccess(gateway);
      const credentials = await issueFurtherCredentials(gateway);
      const trials: Trial[] = [];
      for (const credential of credentials) {
        for (const name of operationNames) trials.push(...(await tryOperation(target, name, credential)));
        for (const request of openRequests) trials.push(await tryOpenRequest(target, request, credential));
      }
      const faults = trials.filter(({ outcome, expected }) => outcome !== expected);
      const admitted = trials.filter(({ outcome, expected }) => outcome === 'success' && expected === 'success').length;
      const wrongAdmissions = faults.filter(({ isWrongAdmission }) => isWrongAdmission).length;
      const wrongRefusals = faults.length - wrongAdmissions;
      const counts = { credentials: credentials.length, operations: operationNames.length + openRequests.length };
      context.totals.access = { ...counts, requests: trials.length, wrongAdmissions, wrongRefusals };
      context.figure(
        `${counts.credentials} credentials × ${counts.operations} operations: ${trials.length} requests, ${wrongAdmissions} wrong admissions, ${wrongRefusals} wrong refusals; ${admitted} operations were permitted and succeeded`,
      );
      for (const { operation, credential, expected, outcome } of faults.slice(0, 10))
        context.expect(false, `${operation} with ${credential}: ${outcome} instead of ${expected}`);
      context.expect(admitted > counts.operations, 'hardly any operation succeeded');
    });
  },
};

/** Who is let in. */
export const trustDrill = createDrill({
  name: 'trust',
  summary: 'sends every operation with unusual credentials',
  description: `Sends every operation of a gateway with API tokens in wrong places, with pairs of scopes and of every environment, and checks who
is let in. Prints a table in Markdown.`,
  scenarios: [accessScenario],
  run: runScenarios,
});
