import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { UsageError } from '../../src/commands/options.ts';
import { token } from '../../src/commands/token.ts';
import { askEnvironment } from '../../src/commands/token-create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testKey } from '../support/keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENCRYPTION_KEYS', testKey);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.close();
});

/** A stream that keeps what is written to it. */
function recorder(): { stream: PassThrough; text: () => string } {
  const chunks: string[] = [];
  const stream = new PassThrough({ encoding: 'utf8' }).on('data', (text: string) => chunks.push(text));
  return { stream, text: () => chunks.join('') };
}

/** What a person types, after which the terminal stays open. */
function typing(text: string): PassThrough {
  const stream = new PassThrough();
  stream.write(text);
  return stream;
}

test.each([
  ['1', 'Customer'],
  ['2', 'Testing'],
  ['3', null],
  ['Customer', 'Customer'],
  ['testing', 'Testing'],
  [' NONE ', null],
])('the answer “%s” chooses %s', async (answer, environment) => {
  const output = recorder();
  expect(await askEnvironment(typing(`${answer}\n`), output.stream)).toBe(environment);
  for (const choice of ['Customer', 'Testing', 'none']) expect(output.text()).toContain(choice);
});

test('asks again until an answer is one of the choices', async () => {
  const output = recorder();
  expect(await askEnvironment(typing('\nproduction\n4\n2\n'), output.stream)).toBe('Testing');
  expect(output.text().match(/Not a valid choice/g)).toHaveLength(3);
});

test('stops reading once it has an answer, so that an open terminal does not keep the process running', async () => {
  const input = typing('2\n');
  await askEnvironment(input, recorder().stream);
  expect(input.isPaused()).toBe(true);
});

test('input that ends without an answer is a usage error that names the choices', async () => {
  const input = new PassThrough();
  input.end('nothing\n');
  const failure = await askEnvironment(input, recorder().stream).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UsageError);
  expect((failure as Error).message).toContain('--environment: Customer, Testing or none');
});

/** Runs `token create` with streams that are terminals or not. */
async function create(args: string[], answer: string, terminals: { stdin?: boolean; stderr?: boolean }) {
  const [stdout, stderr] = [recorder(), recorder()];
  const stdin = Object.assign(typing(answer), { isTTY: terminals.stdin ?? false });
  const io = { stdin, stdout: stdout.stream, stderr: Object.assign(stderr.stream, { isTTY: terminals.stderr ?? false }) };
  const failure = await token(['create', ...args], io).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, stdout: stdout.text(), stderr: stderr.text() };
}

test('token create on a terminal asks on the standard error stream, and the result stays JSON', async () => {
  const { failure, stdout, stderr } = await create(['--name', 'asked', '--json'], 'customer\n', { stdin: true, stderr: true });
  expect(failure).toBeUndefined();
  expect(stderr).toContain('Which environment');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'asked', environment: 'Customer' });
});

test.each(['Customer', 'Testing', 'none'])('token create with --environment %s does not ask', async (environment) => {
  const args = ['--name', `given ${environment}`, '--environment', environment, '--json'];
  const { failure, stdout, stderr } = await create(args, '', { stdin: true, stderr: true });
  expect([failure, stderr]).toEqual([undefined, '']);
  expect(JSON.parse(stdout).environment).toBe(environment === 'none' ? null : environment);
});

test.each([
  ['no terminal', {}],
  ['a terminal only to read from', { stdin: true }],
  ['a terminal only to print to', { stderr: true }],
])('token create with %s and no --environment makes nothing and names the choices', async (_, terminals) => {
  const { failure, stdout, stderr } = await create(['--name', 'unasked'], '1\n', terminals);
  expect(failure).toBeInstanceOf(UsageError);
  expect((failure as Error).message).toContain('--environment is required: Customer, Testing or none');
  expect([stdout, stderr]).toEqual(['', '']);
  expect(await database.prisma.apiToken.count({ where: { name: 'unasked' } })).toBe(0);
});

test('token create on a terminal reports other mistakes before it asks', async () => {
  const { failure, stderr } = await create(['--name', 'n', '--scope', 'x'], '1\n', { stdin: true, stderr: true });
  expect((failure as Error).message).toContain('--scope');
  expect(stderr).toBe('');
});
