import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { containsToken, issueToken } from '../../src/tokens.ts';
import type { DataFolder } from './data-folder.ts';
import { run, serve, until } from './process.ts';
import { type Reply, sendRequest } from './request.ts';
import { filesSince, findSecrets, processSurfaces, type Surface } from './secret-search.ts';

/** Secrets by what they are. */
type Secrets = Record<string, string>;

/** A database that is not there, with a password. */
const elsewhere = 'postgresql://gateway:pass-word-of-another-server@127.0.0.1:1/gateway';

/** Those that only the operator and the gateway know: no request has them. */
const operatorsOwn = ['encryptionKey', 'databasePassword', 'otherPassword'];

/** A request id, operation and provided id that must be found, so that the search is known to work. */
const control = 'control_of_the_search';

/** Has the gateway issue a secret of each kind, and replace some. */
async function issueSecrets(url: string, secrets: Secrets): Promise<void> {
  async function mutate(token: string, mutation: string, input: string, selected: string) {
    const payload = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
    const query = `mutation { result: ${mutation}(input: { ${input} }) { ... on ${payload} { ${selected} } } }`;
    const headers = { 'idempotency-key': crypto.randomUUID() };
    return (await sendRequest(url, 'POST', '/graphql', { token, headers, body: { query } })).json.data.result;
  }
  const admin = secrets['bootstrap'] as string;
  const created = await mutate(
    admin,
    'createApiToken',
    'name: "a", environmentTag: TESTING, scopes: [ADMIN]',
    'secret apiToken { id }',
  );
  const replaced = await mutate(admin, 'rotateApiToken', `id: "${created.apiToken.id}", overlapSeconds: 600`, 'secret');
  const made = await sendRequest(url, 'GET', '/api/user', { token: replaced.secret, body: { user_group_id: control } });
  const graceToken: string = made.json.user_group.token;
  const rotation = `currentToken: "${graceToken}", graceSeconds: 600`;
  const rotated = await mutate(replaced.secret, 'rotateUserGroupToken', rotation, 'userGroup { token }');
  const embed = await mutate(replaced.secret, 'createEmbedToken', `by: { providedId: "${control}" }`, 'token');
  Object.assign(secrets, {
    replacedApiToken: created.secret,
    apiToken: replaced.secret,
    graceToken,
    groupToken: rotated.userGroup.token,
    embedToken: embed.token,
  });
}

/** Puts a secret into every part of a request. */
function requestsWith(url: string, token: string, secret: string): Promise<Reply>[] {
  const send = (method: string, path: string, options: Parameters<typeof sendRequest>[3]) =>
    sendRequest(url, method, path, { token, ...options });
  const text = encodeURIComponent(secret);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const update = `mutation ($t: String!) { updateUserGroup(input: { by: { token: $t }, name: $t, properties: { a: $t } }) { __typename } }`;
  return [
    send('GET', '/api/user', { token: secret, body: { user_group_id: secret, properties: { secret } } }),
    ...['Bearer', 'Basic'].map((scheme) =>
      send('GET', '/api/user', { token: null, headers: { authorization: `${scheme} ${secret}`, cookie: `a=${secret}` } }),
    ),
    send('POST', '/oauth2/introspect', { body: `token=${text}`, headers: form }),
    send('PUT', '/api/user', { body: { user_group_id: secret }, headers: { 'idempotency-key': secret, traceparent: secret } }),
    send('POST', '/api/user', { body: { current_token: secret } }),
    send('GET', `/api/user?user_group_id=${text}&token=${text}`, {}),
    send('GET', `/docs/errors/${text}`, {}),
    send('PUT', '/api/user', { body: `{"user_group_id": ${secret}` }),
    send('POST', '/graphql', { body: { query: `{ userGroup(by: { token: "${secret}" }) { id } }` } }),
    // The names of operations are exported and logged.
    send('POST', '/graphql', { body: { query: `query ${secret} { ${secret} }`, operationName: secret } }),
    send('POST', '/graphql', { body: { query: update, variables: { t: secret } } }),
    // An id that a caller chose is logged as it is, unless it looks like a token.
    ...(containsToken(secret) ? [send('GET', '/api/user', { headers: { 'x-request-id': secret } })] : []),
  ];
}

/** What a search for secrets has found. */
export interface SecretSearch {
  /** Requests that failed with a cause of the gateway's own. */
  readonly failures: number;
  /** The name of each secret that was found, where, and what stands around it. */
  readonly found: readonly string[];
  /** What must be there and was not found: if there is anything, the search proves nothing. */
  readonly missing: readonly string[];
}

/**
 * Starts a gateway that prints all that it can; has it issue, import and store secrets of every kind; sends each in every part of
 * a request, also while tables are missing; and searches for them everywhere but in the responses that return them.
 *
 * @param dataDir where its database is.
 */
export async function searchForSecrets(dataDir: DataFolder): Promise<SecretSearch> {
  const encryptionKey = randomBytes(32).toString('base64');
  const secrets: Secrets = {
    bootstrap: 'an-operators/own+choice=2026',
    imported: 'imported:token:of:another:system',
    wrongApiToken: issueToken('apiToken'),
    wrongGroupToken: issueToken('userGroup'),
    otherScheme: Buffer.from('someone:the-password-of-someone').toString('base64'),
    encryptionKey,
    otherPassword: new URL(elsewhere).password,
  };
  const { bootstrap: BOOTSTRAP_API_TOKEN = '' } = secrets;
  const settings = { DATA_DIR: dataDir.path, ENCRYPTION_KEYS: encryptionKey, BOOTSTRAP_API_TOKEN };
  const startedMs = Date.now() - 1_000;
  const NODE_OPTIONS = `--import ${new URL('print-spans.mjs', import.meta.url)}`;
  const gateway = await serve({ ...settings, LOG_LEVEL: 'trace', RATE_LIMIT: '100000', NODE_OPTIONS });
  const { url, output } = gateway;
  secrets['databasePassword'] = new URL(dataDir.databaseUrl()).password;
  const execute = async (statement: string) => {
    const client = new pg.Client(dataDir.databaseUrl());
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await issueSecrets(url, secrets);

  const surfaces: Surface[] = [];
  const see = (name: string, text: string) => surfaces.push({ name, content: Buffer.from(text) });
  const importFile = join(dataDir.path, 'import.ndjson');
  const lines = ['first', 'thief'].map((id) =>
    JSON.stringify({ user_group_id: id, token: secrets['imported'], environment: 'none' }),
  );
  writeFileSync(importFile, lines.join('\n'));
  for (const [args, given] of [
    [['groups', 'import', importFile], settings],
    [['doctor'], settings],
    [['doctor', '--json'], { DATABASE_URL: elsewhere }],
    [['doctor'], { DATABASE_URL: `${elsewhere}#`, ENCRYPTION_KEYS: `${encryptionKey}=`, BOOTSTRAP_API_TOKEN: encryptionKey }],
    [['token', 'list'], settings],
  ] as const) {
    const { stdout, stderr } = await run([...args], given);
    see(`the output of ${args[0]}`, stdout + stderr);
  }
  await execute('checkpoint');
  // Before the secrets are sent as names and ids, which are stored as they are.
  const files = () => filesSince(dataDir.path, startedMs, ['encryption-keys', 'postgres/superuser-password', 'import.ndjson']);
  surfaces.push(
    ...files(),
    ...processSurfaces(gateway.child.pid as number, ['cmdline']),
    ...processSurfaces(dataDir.postmaster() as number, ['cmdline', 'environ']),
  );

  const { apiToken: token = '' } = secrets;
  const replies: { sent: string; reply: Reply }[] = [];
  const sendEverywhere = async () => {
    for (const [sent, secret] of Object.entries(secrets)) {
      if (operatorsOwn.includes(sent)) continue;
      for (const reply of await Promise.all(requestsWith(url, token, secret))) replies.push({ sent, reply });
    }
  };
  await sendEverywhere();
  const headers = { 'x-request-id': control };
  await sendRequest(url, 'POST', '/graphql', { token, body: { query: `query ${control} { __typename }` } });
  see('/metrics', (await sendRequest(url, 'GET', '/metrics', { token })).text);
  // Failures of the gateway's own are logged with their causes.
  await execute('alter table user_group rename to gone; alter table retired_token rename to gone_too');
  await sendEverywhere();
  await sendRequest(url, 'GET', '/api/user', { token, headers, body: { user_group_id: control } });
  await until(() => output.stdout.includes('"error.type":"INTERNAL"'), 'spans of failed requests are printed');
  await gateway.stop();
  see('standard output', output.stdout);
  see('standard error', output.stderr);
  surfaces.push(...files().filter(({ name }) => name.endsWith('.log')));

  const inErrors = replies.flatMap(({ sent, reply }) => {
    if (reply.status < 400 && !reply.json?.errors) return [];
    // A caller may be told what it has sent itself, unless it is a token of the gateway's own.
    const { [sent]: own = '', ...others } = secrets;
    const content = Buffer.from([...[...reply.headers].flat(), reply.text].join('\n'));
    return findSecrets(containsToken(own) ? secrets : others, [{ name: `a response to a request with ${sent}`, content }]);
  });
  const seen = findSecrets({ control, program: 'postgres' }, surfaces);
  const expected = [
    'control in postgres/base/',
    'control in standard output',
    'control in standard error',
    'control in /metrics',
  ];
  if (process.platform === 'linux') expected.push('program in cmdline', 'program in environ');
  return {
    failures: replies.filter(({ reply }) => reply.status === 500).length,
    found: [...findSecrets(secrets, surfaces), ...inErrors].map((text) => text.replace(/[^ -~]/g, '.')),
    missing: expected.filter((start) => !seen.some((text) => text.startsWith(start))),
  };
}
