import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { containsToken, issueToken } from '../../src/tokens.ts';
import { type Ended, run, serve, until } from './process.ts';
import { type Reply, sendRequest } from './request.ts';
import { filesSince, findSecrets, processSurfaces, type Surface } from './secret-search.ts';

/** Secrets by what they are. */
type Secrets = Record<string, string>;

/** A password in a `DATABASE_URL` that leads nowhere. */
const elsewhere = 'postgresql://gateway:pass-word-of-another-server@127.0.0.1:1/gateway';

/** Those that only the operator and the gateway know: no request has them. */
const operatorsOwn = ['encryptionKey', 'databasePassword', 'otherPassword', 'tooShort'];

/**
 * What must be found where it is expected, so that the search is known to work: the request id, operation, and provided id of one
 * request.
 */
const control = 'control-of-the-search';

/** The control as the name of an operation. */
const controlOperation = control.replaceAll('-', '_');

/** What `groups import` reads, in `DATA_DIR`. */
const importFile = 'import.ndjson';

/** The files in `DATA_DIR` whose purpose is a secret. */
const secretFiles: readonly string[] = ['encryption-keys', 'superuser-password', importFile];

/** The secrets that there are before the gateway issues any. */
const firstSecrets = (encryptionKey: string): Secrets => ({
  bootstrap: 'an-operators/own+choice=2026',
  imported: 'imported:token:of:another:system',
  wrongApiToken: issueToken('apiToken'),
  wrongGroupToken: issueToken('userGroup'),
  otherScheme: Buffer.from('someone:the-password-of-someone').toString('base64'),
  encryptionKey,
  otherPassword: new URL(elsewhere).password,
  tooShort: 'short-secret',
});

/** Settings of a gateway that prints as much as it can: every request, every statement, every span. */
const talkativeSettings = (secrets: Secrets): Record<string, string> => ({
  BOOTSTRAP_API_TOKEN: secrets['bootstrap'] as string,
  LOG_LEVEL: 'trace',
  RATE_LIMIT: '100000',
  NODE_OPTIONS: `--import ${new URL('print-spans.mjs', import.meta.url)}`,
});

async function mutate<Payload>(url: string, document: string, token: string, key?: string): Promise<Payload> {
  const headers = key ? { 'idempotency-key': key } : {};
  const body = { query: `mutation { ${document} }` };
  const { json } = await sendRequest(url, 'POST', '/graphql', { token, headers, body });
  return Object.values(json.data)[0] as Payload;
}

/**
 * Has the gateway issue a secret of each kind, and replace some, with and without Idempotency-Key.
 *
 * @throws Error when one is not issued.
 */
async function issueSecrets(url: string, secrets: Secrets): Promise<void> {
  const admin = secrets['bootstrap'] as string;
  const creation = `createApiToken(input: { name: "a", environmentTag: TESTING, scopes: [ADMIN] }) { ... on CreateApiTokenPayload { secret apiToken { id } } }`;
  const created = await mutate<{ secret: string; apiToken: { id: string } }>(url, creation, admin, 'key-of-a-creation');
  secrets['replacedApiToken'] = created.secret;
  const rotation = `rotateApiToken(input: { id: "${created.apiToken.id}", overlapSeconds: 600 }) { ... on RotateApiTokenPayload { secret } }`;
  secrets['apiToken'] = (await mutate<{ secret: string }>(url, rotation, admin, 'key-of-a-rotation')).secret;
  const { apiToken = '' } = secrets;
  const group = { user_group_id: control };
  const headers = { 'x-request-id': control };
  const first = await sendRequest(url, 'GET', '/api/user', { token: apiToken, headers, body: group });
  secrets['replacedGroupToken'] = first.json.user_group.token;
  const body = { current_token: first.json.user_group.token };
  const options = { token: apiToken, headers: { 'idempotency-key': 'k' }, body };
  const rotated = await sendRequest(url, 'POST', '/api/user', options);
  secrets['graceGroupToken'] = rotated.json.user_group.token;
  const grace = `rotateUserGroupToken(input: { currentToken: "${rotated.json.user_group.token}", graceSeconds: 600 }) { ... on RotateUserGroupTokenPayload { userGroup { token } } }`;
  secrets['groupToken'] = (await mutate<{ userGroup: { token: string } }>(url, grace, apiToken)).userGroup.token;
  const embed = `createEmbedToken(input: { by: { providedId: "${control}" } }) { ... on CreateEmbedTokenPayload { token } }`;
  secrets['embedToken'] = (await mutate<{ token: string }>(url, embed, apiToken, 'key-of-an-embed-token')).token;
  for (const [name, secret] of Object.entries(secrets)) if (typeof secret !== 'string') throw new Error(`No ${name} was issued.`);
}

/**
 * Imports a group with a token of its own, and has a second import fail because of it.
 *
 * @throws Error when either ends otherwise.
 */
async function importSecrets(dataDir: string, secrets: Secrets, settings: Record<string, string>): Promise<Ended[]> {
  const file = join(dataDir, importFile);
  const lines = ['fail', 'update'].map((id) =>
    JSON.stringify({ user_group_id: id, token: secrets['imported'], environment: 'Testing' }),
  );
  writeFileSync(file, lines[0] ?? '');
  const imports = [await run(['groups', 'import', file], settings)];
  writeFileSync(file, lines.join('\n'));
  imports.push(await run(['groups', 'import', file, '--on-existing', 'fail'], settings));
  const codes = imports.map(({ code }) => code).join();
  if (codes !== '0,1') throw new Error(`The imports ended with ${codes}: ${imports.map(({ stderr }) => stderr).join()}`);
  return imports;
}

/** Has `doctor` check settings that are right and wrong. */
const runDoctor = async (
  dataDir: string,
  databaseUrl: string,
  { bootstrap = '', encryptionKey = '', tooShort = '' }: Secrets,
) => [
  await run(['doctor'], { DATA_DIR: dataDir, BOOTSTRAP_API_TOKEN: bootstrap }),
  await run(['doctor', '--json'], { DATABASE_URL: databaseUrl }),
  await run(['doctor', '--json'], { DATABASE_URL: elsewhere }),
  await run(['doctor'], {
    DATABASE_URL: `${elsewhere}#`,
    ENCRYPTION_KEYS: `${encryptionKey},${encryptionKey}=`,
    BOOTSTRAP_API_TOKEN: tooShort,
  }),
];

/** Statements that have every further request fail with a cause of the gateway's own: one step after the other. */
const breakingStatements: readonly string[] = [
  'alter table user_group rename to gone; alter table retired_token rename to gone_too',
  'alter table api_token rename to gone_as_well',
];

/** A response to a request with a secret. */
interface SecretReply {
  /** The name of the secret. */
  readonly sent: string;
  readonly reply: Reply;
}

/** Puts every secret into every part of a request. */
async function sendEverywhere(url: string, secrets: Secrets): Promise<SecretReply[]> {
  const replies: SecretReply[] = [];
  for (const [sent, secret] of Object.entries(secrets)) {
    if (operatorsOwn.includes(sent)) continue;
    for (const reply of await Promise.all(requestsWith(url, secrets, secret))) replies.push({ sent, reply });
  }
  return replies;
}

function requestsWith(url: string, { apiToken: token = '', groupToken = '' }: Secrets, secret: string): Promise<Reply>[] {
  const rotation = `mutation ($t: String!) { rotateUserGroupToken(input: { currentToken: $t, graceSeconds: 5 }) { __typename } }`;
  const update = `mutation ($t: String!) { updateUserGroup(input: { by: { token: $t }, name: $t, properties: { secret: $t } }) { __typename } }`;
  const send = (method: string, path: string, options: Parameters<typeof sendRequest>[3]) =>
    sendRequest(url, method, path, options);
  const text = encodeURIComponent(secret);
  return [
    send('GET', '/api/user', { token: secret, body: { user_group_id: secret, properties: { secret } } }),
    ...['Bearer', 'Basic', 'Digest', 'Negotiate'].map((scheme) =>
      send('GET', '/api/user', {
        headers: { authorization: `${scheme} ${secret}`, cookie: `token=${secret}`, 'idempotency-key': `${secret}` },
      }),
    ),
    send('POST', '/oauth2/introspect', {
      token,
      body: `token=${text}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
    send('PUT', '/api/user', {
      token,
      headers: { 'idempotency-key': secret, traceparent: secret, tracestate: `a=${secret}` },
      body: { user_group_id: secret },
    }),
    ...[secret, groupToken].map((current_token) => send('POST', '/api/user', { token, body: { current_token } })),
    send('GET', `/api/user?user_group_id=${text}&token=${text}`, { token }),
    send('GET', `/api/user/${text}?${text}`, { token }),
    send('GET', `/docs/errors/${text}`, { token }),
    send('DELETE', `/api/user?${text}`, { token }),
    send('PUT', '/api/user', { token, body: `{"user_group_id": ${secret}` }),
    send('PUT', '/api/user', {
      token,
      body: { user_group_id: 'a', mapping: { [secret]: secret } },
    }),
    send('POST', '/graphql', {
      token,
      body: { query: `{ userGroup(by: { token: "${secret}" }) { id } }` },
    }),
    send('POST', '/graphql', { token, body: { query: `{ ${secret} }`, operationName: secret } }),
    ...['query', 'mutation'].map((type) =>
      // The names of operations are exported and logged.
      send('POST', '/graphql', { token, body: { query: `${type} ${secret} { __typename }` } }),
    ),
    send('POST', '/graphql', { token, body: { query: rotation, variables: { t: secret } } }),
    send('POST', '/graphql', { token, body: { query: update, variables: { t: secret } } }),
    send('GET', '/api/user', {
      token,
      // An id that a caller chose is logged as it is, unless it looks like a token.
      headers: { 'x-token': secret, ...(containsToken(secret) && { 'x-request-id': secret }) },
      body: { user_group_id: 'b' },
    }),
  ];
}

/**
 * The secrets in responses that report an error: each but the one that the caller has sent itself, which may be repeated unless
 * it is one of the gateway's own.
 */
function findInErrors(secrets: Secrets, replies: readonly SecretReply[]): string[] {
  return replies
    .filter(({ reply }) => reply.status >= 400 || reply.json?.errors)
    .flatMap(({ sent, reply }) => {
      const { [sent]: own = '', ...others } = secrets;
      const sought = containsToken(own) ? secrets : others;
      const content = Buffer.from([...[...reply.headers].flat(), reply.text].join('\n'));
      return findSecrets(sought, [{ name: `the response ${reply.status} to a request with ${sent}`, content }]);
    });
}

/** A text as a place that is searched. */
const textSurface = (name: string, content: string): Surface => ({ name, content: Buffer.from(content) });

/** What a search for secrets has found. */
export interface SecretSearch {
  readonly secrets: number;
  /** Requests with a secret, those that were refused or failed, and those that failed with a cause of the gateway's own. */
  readonly requests: number;
  readonly errors: number;
  readonly failures: number;
  /** The files, outputs and processes that were searched. */
  readonly surfaces: readonly Surface[];
  /** The name of each secret that was found, where, and what stands around it. */
  readonly found: readonly string[];
  /** What must be there and was not found: if there is anything, the search proves nothing. */
  readonly missing: readonly string[];
}

/** Where each control must be found, by the start of the name of the place. */
const expectedControls = [
  'provided id in postgres/base/',
  'provided id in postgres/pg_wal/',
  'problem in the response',
  'request id in standard output',
  'request id in standard error',
  'operation in standard output',
  'operation in standard error',
  'operation in /metrics',
  ...(process.platform === 'linux' ? ['program in cmdline', 'program in environ'] : []),
];

/**
 * Starts a gateway that prints all that it can; has it issue, import and store secrets of every kind; sends each in every part of
 * a request, also while tables are missing; and searches for them everywhere but in the responses that return them.
 *
 * @param dataDir where its database is, or is created.
 */
export async function searchForSecrets(dataDir: {
  readonly path: string;
  databaseUrl(): string;
  postmaster(): number | undefined;
}): Promise<SecretSearch> {
  const encryptionKey = randomBytes(32).toString('base64');
  const secrets = firstSecrets(encryptionKey);
  const settings = { DATA_DIR: dataDir.path, ENCRYPTION_KEYS: encryptionKey };
  const startedMs = Date.now() - 1_000;
  const gateway = await serve({ ...settings, ...talkativeSettings(secrets) });
  const { url, output } = gateway;
  const databaseUrl = dataDir.databaseUrl();
  secrets['databasePassword'] = new URL(databaseUrl).password;
  const execute = async (statement: string) => {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };

  await issueSecrets(url, secrets);
  const commands = await importSecrets(dataDir.path, secrets, settings);
  commands.push(...(await runDoctor(dataDir.path, databaseUrl, secrets)));
  commands.push(await run(['token', 'list'], settings), await run(['groups', 'export', '--help'], settings));
  const surfaces = commands.map(({ stdout, stderr }) => textSurface('the output of a command', stdout + stderr));
  await execute('checkpoint');
  // Before the secrets are sent as names and ids, which are stored as they are.
  surfaces.push(...filesSince(dataDir.path, startedMs, secretFiles));
  surfaces.push(
    ...processSurfaces(gateway.child.pid as number, ['cmdline']),
    ...processSurfaces(dataDir.postmaster() as number, ['cmdline', 'environ']),
  );

  const token = secrets['apiToken'] as string;
  const body = { query: `query ${controlOperation} { __typename }` };
  await sendRequest(url, 'POST', '/graphql', { token, headers: { 'x-request-id': control }, body });
  const replies = await sendEverywhere(url, secrets);
  const metrics = await sendRequest(url, 'GET', '/metrics', { headers: { authorization: `Bearer ${token}` } });
  surfaces.push(textSurface('/metrics', metrics.text));
  // Failures of the gateway's own are logged with their causes.
  for (const statement of breakingStatements) {
    await execute(statement);
    replies.push(...(await sendEverywhere(url, secrets)));
  }
  await until(() => output.stdout.includes('"error.type":"INTERNAL"'), 'spans of failed requests are printed');
  await gateway.stop();
  surfaces.push(textSurface('standard output', output.stdout), textSurface('standard error', output.stderr));
  surfaces.push(...filesSince(dataDir.path, startedMs, secretFiles).filter(({ name }) => name.endsWith('.log')));

  const controls = { 'provided id': control, 'request id': control, operation: controlOperation, program: 'postgres' };
  const seen = [...findSecrets(controls, surfaces), ...findInErrors({ problem: 'UNAUTHENTICATED' }, replies)];
  return {
    secrets: Object.keys(secrets).length,
    requests: replies.length,
    errors: replies.filter(({ reply }) => reply.status >= 400 || reply.json?.errors).length,
    failures: replies.filter(({ reply }) => reply.status === 500).length,
    surfaces,
    found: [...findSecrets(secrets, surfaces), ...findInErrors(secrets, replies)].map((text) => text.replace(/[^ -~]/g, '.')),
    missing: expectedControls.filter((expected) => !seen.some((text) => text.startsWith(expected))),
  };
}
