import fc from 'fast-check';
import { execute, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueApiToken } from '../../src/domain/api-tokens.ts';
import { Caller, type Scope } from '../../src/domain/caller.ts';
import { asGatewayError, InvalidInput } from '../../src/domain/errors.ts';
import { bindStatements } from '../../src/domain/statements.ts';
import type { GraphQLContext } from '../../src/graphql/context.ts';
import { causeOf, prepareOperation } from '../../src/graphql/prepared.ts';
import { schema } from '../../src/graphql/schema.ts';
import { mappingEntries } from '../../src/rest/legacy.ts';
import { rows } from '../../src/rest/user.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let callers: Caller[];

beforeAll(async () => {
  database = await createTestDatabase();
  const group = (providedId: string, environmentTag: 'Testing' | null, rest: object) =>
    database.prisma.userGroup.create({
      data: { providedId, environmentTag, name: 'Same', token: `imported for ${providedId}`, ...rest },
    });
  await group('acme', 'Testing', { properties: { plan: 'gold' }, mapping: { a: 'b' } });
  await group('untagged', null, {});
  const issue = async (scopes: Scope[]) =>
    new Caller(
      (await issueApiToken(database.prisma, { name: 'test', environmentTag: 'Testing', scopes, expiresAt: null })).apiToken,
    );
  callers = [await issue(['groups:write']), await issue(['config:validate']), Caller.anonymous];
});
afterAll(() => database.close());

const contextOf = (caller: Caller): GraphQLContext => ({
  db: { prisma: database.prisma, statements: bindStatements(database) },
  caller,
  report: () => {},
});

/** What an operation came to: its result as JSON, a refused input, or a failure. */
type Outcome = { readonly result: string } | { readonly refused: true } | { readonly failed: string };

async function compiled(method: string, input: object, context: GraphQLContext): Promise<Outcome> {
  const operation = prepareOperation(schema, rows[method]?.document ?? '');
  try {
    const result = await operation.run(input as Record<string, unknown>, context);
    // Not a resolver's, whose errors are results here: the operation's own, with the issues that it found.
    if (result instanceof InvalidInput) return result.issues.length > 0 ? { refused: true } : { failed: 'no issues' };
    return { result: JSON.stringify(result) };
  } catch (error) {
    return { failed: String(error) };
  }
}

async function reference(method: string, input: object, contextValue: GraphQLContext): Promise<Outcome> {
  const document = parse(rows[method]?.document ?? '');
  const { data, errors } = await execute({ schema, document, contextValue, variableValues: { input } });
  if (!errors?.[0]) return { result: JSON.stringify(data?.['result']) };
  return data ? { failed: String(asGatewayError(causeOf(errors[0]))) } : { refused: true };
}

/** The operation's input, as the route makes it of a request's members. */
function inputOf(method: string, members: Record<string, unknown>): object {
  const mapping = mappingEntries(members['mapping']);
  return rows[method]?.input({ ...members, ...('message' in mapping ? {} : mapping) }) ?? {};
}

const wrong = fc.constantFrom<unknown>(null, 5, 1.5, true, [], {}, ['acme'], { a: 1 }, Number.NaN, 2 ** 40);
const sometimesWrong = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: right }, { weight: 1, arbitrary: wrong });

/** Members that name a group that is there, or none that could be made: a second request finds what the first one did. */
const members = fc.record(
  {
    user_group_id: sometimesWrong(fc.constantFrom('acme', 'acme', 'acme', 'untagged', '', 'x'.repeat(256), 'a\0', '\ud800')),
    current_token: sometimesWrong(fc.constantFrom(`ugt_${'0'.repeat(36)}`, 'an imported one that is not there', '', 'short')),
    name: sometimesWrong(fc.constantFrom('Same', 'ä€😀', '', 'x'.repeat(256), '__proto__')),
    mapping: sometimesWrong(
      fc.oneof(
        fc.dictionary(fc.string({ maxLength: 3 }), sometimesWrong(fc.string({ maxLength: 3 })), { maxKeys: 3 }),
        fc.constant({ ['__proto__']: 'a' }),
      ),
    ),
    properties: sometimesWrong(
      fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom({ plan: 'gold' }, null, { a: Number.NaN })),
    ),
    unknown: fc.constant(1),
  },
  { requiredKeys: [] },
);

test('the compiled operation of each REST method gives what the reference implementation gives', async () => {
  const counts: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(rows)),
      members,
      fc.constantFrom(0, 0, 0, 1, 2),
      async (method, given, index) => {
        // The route answers for a missing member itself.
        fc.pre(given[rows[method]?.required as keyof typeof given] != null);
        const input = inputOf(method, given);
        const context = contextOf(callers[index] as Caller);
        const actual = await compiled(method, input, context);
        expect(actual).toEqual(await reference(method, input, context));
        const kind =
          'result' in actual
            ? `${method} ${actual.result.includes('"user_group"') ? 'success' : 'failure'}`
            : Object.keys(actual)[0];
        counts[`${kind}`] = (counts[`${kind}`] ?? 0) + 1;
      },
    ),
    { numRuns: 1_000 },
  );
  for (const kind of ['GET success', 'GET failure', 'PUT success', 'PUT failure', 'POST failure', 'refused']) {
    expect.soft(counts[kind], kind).toBeGreaterThan(10);
  }
});

test('a rotation that succeeds has a result of the same shape either way', async () => {
  const { token } = await database.prisma.userGroup.create({
    data: { providedId: 'to rotate', environmentTag: 'Testing', name: 'R', token: 'imported and to rotate' },
  });
  const context = contextOf(callers[0] as Caller);
  const rotate = async (way: typeof compiled, currentToken: string) => {
    const outcome = await way('POST', { currentToken }, context);
    return JSON.parse('result' in outcome ? outcome.result : '{}') as { user_group?: { token: string } };
  };
  const first = await rotate(compiled, token);
  const second = await rotate(reference, first.user_group?.token ?? '');
  expect(first.user_group?.token).toMatch(/^ugt_\w{36}$/);
  expect(second.user_group?.token).not.toBe(first.user_group?.token);
  const shape = ({ user_group }: typeof first) => JSON.stringify({ user_group: { ...user_group, token: '' } });
  expect(shape(first)).toBe(shape(second));
});
