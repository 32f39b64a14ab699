import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import type { TestDataDir } from '../support/data-dir.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { testKey } from '../support/keys.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';
import { filesSince, findSecrets, processSurfaces, type Surface } from '../support/secret-search.ts';
import {
  breakingStatements,
  control,
  controlOperation,
  findInErrors,
  firstSecrets,
  importSecrets,
  issueSecrets,
  runDoctor,
  type SecretReply,
  secretFiles,
  sendEverywhere,
  talkativeSettings,
  textSurface,
} from '../support/secrets.ts';

/** Every secret, by what it is. Further ones are added when the gateway issues them. */
const secrets = firstSecrets(testKey);

let dataDir: TestDataDir;
let gateway: ServeProcess;
let database: Database;
let startedMs: number;

beforeAll(async () => {
  dataDir = makeKeyedDataDir();
  startedMs = Date.now() - 1_000;
  gateway = await serve({ DATA_DIR: dataDir.path, ...talkativeSettings(secrets) });
  const url = dataDir.databaseUrl();
  secrets['databasePassword'] = new URL(url).password;
  database = connectDatabase({ connectionString: url });
});
afterAll(async () => {
  await database.close();
  await endProcesses();
  await dataDir.remove();
});

/** What the processes have printed: the log, with a line for each request, and the spans. */
const printed = (): Surface[] => [
  textSurface('standard output', gateway.output.stdout),
  textSurface('standard error', gateway.output.stderr),
];

const statusesOf = (replies: readonly SecretReply[]) => new Set(replies.map(({ reply }) => reply.status));

/** Everything that was written to `DATA_DIR` since the start: tables, indexes, the log of changes, the text log of PostgreSQL. */
async function writtenFiles(): Promise<Surface[]> {
  await database.pool.query('checkpoint');
  return filesSince(dataDir.path, startedMs, secretFiles);
}

test('stores no secret in the files of the database and its log of changes, whatever is issued, imported, rotated and repeated', async () => {
  await issueSecrets(gateway.url, secrets);
  const imports = await importSecrets(dataDir.path, secrets, { DATA_DIR: dataDir.path });
  const files = await writtenFiles();
  const names = files.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([expect.stringMatching(/pg_wal\/[0-9A-F]{24}$/), expect.stringMatching(/postgres\.log$/)]),
  );
  const places = findSecrets({ control }, files).join('\n');
  expect(places).toMatch(/control in postgres\/base\//);
  expect(places).toMatch(/control in postgres\/pg_wal\//);
  const output = imports.map(({ stdout, stderr }) => textSurface('groups import', stdout + stderr));
  expect(findSecrets(secrets, [...files, ...output])).toEqual([]);
});

test('shows no secret in the output of doctor, whatever it connects to', async () => {
  const outputs = await runDoctor(dataDir.path, dataDir.databaseUrl(), secrets);
  expect(outputs.map(({ stdout }) => /encryption-keys|settings/.test(stdout))).toEqual([true, true, true, true]);
  const surfaces = outputs.map(({ stdout, stderr }) => textSurface('doctor', stdout + stderr));
  expect(findSecrets({ ...secrets, short: 'short-secret' }, surfaces)).toEqual([]);
});

test('passes no secret in the arguments of its process and those of PostgreSQL, and none to the environment of PostgreSQL', () => {
  const postmaster = dataDir.postmaster() as number;
  const surfaces = [
    ...processSurfaces(gateway.child.pid as number, ['cmdline']),
    ...processSurfaces(postmaster, ['cmdline', 'environ']),
  ];
  if (process.platform === 'linux')
    expect(findSecrets({ program: 'postgres', command: 'main.js' }, surfaces).length).toBeGreaterThan(3);
  expect(findSecrets(secrets, surfaces)).toEqual([]);
});

test('repeats no secret in the log, metrics, spans and errors, regardless of where it is sent and what fails', async () => {
  const { apiToken = '' } = secrets;
  const query = { query: `query ${controlOperation} { __typename }` };
  await sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, headers: { 'x-request-id': control }, body: query });
  const replies = await sendEverywhere(gateway.url, secrets);
  expect(statusesOf(replies)).toContain(401);
  const metrics = await sendRequest(gateway.url, 'GET', '/metrics', { headers: { authorization: `Bearer ${apiToken}` } });
  expect(metrics.text).toContain('operation="updateUserGroup",status="200"');

  // Failures of the gateway's own are logged with their causes: a table that is gone, connections that are cut.
  for (const statement of breakingStatements) {
    await database.pool.query(statement);
    const failures = await sendEverywhere(gateway.url, secrets);
    expect(statusesOf(failures)).toContain(500);
    replies.push(...failures);
  }
  await until(() => gateway.output.stdout.includes('"error.type":"INTERNAL"'), 'spans of failed requests are printed');
  await gateway.stop();

  expect(gateway.output.stderr.split('\n').filter((line) => line.includes('"INTERNAL"')).length).toBeGreaterThan(20);
  const postgresLog = filesSince(join(dataDir.path, 'postgres'), startedMs, []).filter(({ name }) => name === 'postgres.log');
  const surfaces = [...printed(), textSurface('metrics', metrics.text), ...postgresLog];
  const controls = findSecrets({ control, operation: controlOperation }, surfaces).map((found) => found.split(':')[0]);
  const outputs = ['standard output', 'standard error'];
  expect(new Set(controls)).toEqual(
    new Set([...outputs.map((name) => `control in ${name}`), ...[...outputs, 'metrics'].map((name) => `operation in ${name}`)]),
  );
  expect(postgresLog).toHaveLength(1);
  expect(findSecrets(secrets, surfaces)).toEqual([]);
  expect(findInErrors(secrets, replies)).toEqual([]);
});

test.each(['', 'prefix ', '"', '%'])('the search finds a planted secret in each of its forms, after %j', (prefix) => {
  const { bootstrap = '', encryptionKey = '' } = secrets;
  const plants: (string | Buffer)[] = [
    ...[bootstrap, encodeURIComponent(bootstrap), JSON.stringify(bootstrap), Buffer.from(bootstrap).toString('base64')],
    ...[bootstrap.slice(2, -3), encryptionKey, Buffer.from(encryptionKey, 'base64')],
  ];
  for (const plant of plants) {
    const content = Buffer.concat([Buffer.alloc(1_000, 7), Buffer.from(prefix), Buffer.from(plant as string), Buffer.alloc(10)]);
    expect(findSecrets({ bootstrap, encryptionKey }, [{ name: 'a place', content }])).toHaveLength(1);
  }
});
