import { expect, test } from 'vitest';
import { createEmbedTokenVerifier, GatewayError, UserGroupGateway, verifyWebhook } from '../../client/src/index.ts';
import {
  type ConformanceCall,
  checkConformance,
  conformanceCases,
  type Outcome,
  type RunnableCase,
} from '../support/conformance.ts';

const cases = conformanceCases(['verifyEmbedToken', 'untypedToken']);

/** Executes the calls of a case with the client. */
async function run({ calls, url, apiToken, timeoutMs, retries, options }: RunnableCase): Promise<Outcome[]> {
  let at = 0;
  const now = () => at * 1_000;
  const verify = options?.verifier && createEmbedTokenVerifier({ ...options.verifier, now });
  const call = async ({ operation, arguments: given, idempotencyKey }: ConformanceCall): Promise<unknown> => {
    const gateway = new UserGroupGateway({ url, apiToken, timeoutMs, retries });
    const callOptions = idempotencyKey === undefined ? {} : { idempotencyKey };
    switch (operation) {
      case 'getOrCreate':
      case 'update':
      case 'rotateToken':
        return gateway.userGroups[operation](given, callOptions);
      case 'resolveViewer':
        return gateway.resolveViewer(given.token, callOptions);
      case 'createEmbedToken':
        return gateway.embedTokens.create(given, callOptions);
      case 'verifyWebhook':
        return verifyWebhook(given.secret, given.headers, given.body, { now });
      case 'verifyEmbedToken':
        return verify?.(given.token);
      default:
        throw new Error(`The client has no ${operation}.`);
    }
  };
  const outcomes: Outcome[] = [];
  for (const each of calls) {
    at = each.at ?? 0;
    const startedAt = performance.now();
    const outcome = await call(each).then((result) => ({ result }), outcomeOf);
    outcomes.push({ ...outcome, elapsedMs: performance.now() - startedAt });
  }
  return outcomes;
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof GatewayError) return { error };
  if (error instanceof TypeError) return { usageError: true };
  throw error;
}

test.concurrent.each(cases)('$name', (testCase) => checkConformance(testCase, run));

test('no case is missing, and each has its name', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  expect(cases.length).toBeGreaterThan(80);
});
