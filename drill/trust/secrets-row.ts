import { randomBytes } from 'node:crypto';
import { endProcesses, run, serve, until } from '../../test/support/process.ts';
import { sendRequest } from '../../test/support/request.ts';
import { filesSince, findSecrets, processSurfaces, type Surface } from '../../test/support/secret-search.ts';
import {
  breakingStatements,
  control,
  controlOperation,
  findInErrors,
  firstSecrets,
  importSecrets,
  issueSecrets,
  runDoctor,
  secretFiles,
  sendEverywhere,
  talkativeSettings,
  textSurface,
} from '../../test/support/secrets.ts';
import type { FaultRow } from '../faults/fault-row.ts';
import { Instance } from '../faults/instance.ts';

/** Where each control must be found, by the start of the name of the place; otherwise the search proves nothing. */
const expectedControls = [
  ...['provided id in postgres/base/', 'provided id in postgres/pg_wal/'],
  ...['request id in standard output', 'request id in standard error'],
  ...['operation in standard output', 'operation in standard error', 'operation in /metrics'],
  ...['program in cmdline', 'program in environ', 'problem in the response'],
];

/** Secrets that are sent, issued, imported, stored and configured, and everything that gateway and PostgreSQL write. */
export const secretsRow: FaultRow = {
  name: 'secrets',
  summary: 'searches logs, spans, metrics, errors, data files, WAL and arguments for every secret of a run',
  missing: () => (process.platform === 'linux' ? undefined : 'arguments of processes are read from /proc'),
  async run(context) {
    const encryptionKey = randomBytes(32).toString('base64');
    const secrets = firstSecrets(encryptionKey);
    const instance = new Instance(context);
    const settings = { DATA_DIR: instance.dataDir, ENCRYPTION_KEYS: encryptionKey };
    const startedMs = Date.now() - 1_000;
    context.onEnd(endProcesses);
    const gateway = await serve({ ...settings, ...talkativeSettings(secrets) });
    const { url } = gateway;
    secrets['databasePassword'] = new URL(instance.databaseUrl()).password;
    const surfaces: Surface[] = [];

    await issueSecrets(url, secrets);
    const commands = await importSecrets(instance.dataDir, secrets, settings);
    commands.push(...(await runDoctor(instance.dataDir, instance.databaseUrl(), secrets)));
    commands.push(await run(['token', 'list'], settings), await run(['groups', 'export', '--help'], settings));
    for (const { stdout, stderr } of commands) surfaces.push(textSurface('the output of a command', stdout + stderr));
    const execute = (statement: string) => instance.withDatabase(({ pool }) => pool.query(statement));
    await execute('checkpoint');
    // Before the secrets are sent as names and ids, which are stored as they are.
    surfaces.push(...filesSince(instance.dataDir, startedMs, secretFiles));
    surfaces.push(
      ...processSurfaces(gateway.child.pid as number, ['cmdline']),
      ...processSurfaces(instance.postmaster() as number, ['cmdline', 'environ']),
    );

    const token = secrets['apiToken'] as string;
    const body = { query: `query ${controlOperation} { __typename }` };
    await sendRequest(url, 'POST', '/graphql', { token, headers: { 'x-request-id': control }, body });
    const replies = await sendEverywhere(url, secrets);
    const metrics = await sendRequest(url, 'GET', '/metrics', { token });
    surfaces.push(textSurface('/metrics', metrics.text));
    // Failures of the gateway's own are logged with their causes.
    for (const statement of breakingStatements) {
      await execute(statement);
      replies.push(...(await sendEverywhere(url, secrets)));
    }
    await until(() => gateway.output.stdout.includes('"error.type":"INTERNAL"'), 'spans of failed requests are printed');
    await gateway.stop();
    surfaces.push(textSurface('standard output', gateway.output.stdout), textSurface('standard error', gateway.output.stderr));
    surfaces.push(...filesSince(instance.dataDir, startedMs, secretFiles).filter(({ name }) => name.endsWith('.log')));

    const errors = replies.filter(({ reply }) => reply.status >= 400 || reply.json?.errors);
    const found = [...findSecrets(secrets, surfaces), ...findInErrors(secrets, replies)];
    const places = surfaces.length + errors.length;
    const mebibytes = surfaces.reduce((sum, { content }) => sum + content.length, 0) / 2 ** 20;
    context.totals.secrets = { secrets: Object.keys(secrets).length, places, found: found.length };
    context.figure(
      `${Object.keys(secrets).length} secrets in ${replies.length} requests; ${surfaces.length} files and outputs (${Math.round(mebibytes)} MiB) and ${errors.length} error responses searched; ${found.length} found`,
    );
    for (const text of found.slice(0, 10)) context.expect(false, text.replace(/[^ -~]/g, '.'));

    const controls = { 'provided id': control, 'request id': control, operation: controlOperation, program: 'postgres' };
    const seen = [...findSecrets(controls, surfaces), ...findInErrors({ problem: 'UNAUTHENTICATED' }, replies)];
    for (const expected of expectedControls)
      context.expect(
        seen.some((text) => text.startsWith(expected)),
        `the search does not find the ${expected}`,
      );
    const failed = replies.filter(({ reply }) => reply.status === 500).length;
    context.expect(failed > 20, `only ${failed} requests failed with a cause of the gateway's own`);
  },
};
