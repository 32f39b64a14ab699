import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateEncryptionKey } from '../src/encryption/key-texts.ts';
import { readConfig } from '../src/settings.ts';
import { issueToken } from '../src/tokens.ts';

const url = 'postgresql://somebody@db.example/gateway';
const [first, second] = [generateEncryptionKey(), generateEncryptionKey()];
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-config-'));
  writeFileSync(join(folder, 'good'), `${first}\n${second}\n`);
  writeFileSync(join(folder, 'bad'), `${first}\n${second.slice(8)}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const keysOf = (environment: NodeJS.ProcessEnv) =>
  readConfig(environment, false).encryptionKeys?.map((key) => key.toString('base64'));

/** The lines that say what is wrong. */
function problems(environment: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(environment, false);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  }
}

test('encryption keys come from the setting, or from the file of the other setting', () => {
  expect(keysOf({ DATABASE_URL: url, ENCRYPTION_KEYS: `${first},${second}` })).toEqual([first, second]);
  expect(keysOf({ DATABASE_URL: url, ENCRYPTION_KEYS_FILE: join(folder, 'good') })).toEqual([first, second]);
  expect(keysOf({ ENCRYPTION_KEYS: second })).toEqual([second]);
});

test('the embedded database needs no setting', () => {
  expect(keysOf({})).toBeUndefined();
  expect(keysOf({ ENCRYPTION_KEYS: '', ENCRYPTION_KEYS_FILE: '' })).toBeUndefined();
});

test('DATABASE_URL without keys is refused with a key to paste, another one each time', () => {
  const pasted = [1, 2].map(() => {
    const text = problems({ DATABASE_URL: url }).join('\n');
    expect(text).toMatch(/ENCRYPTION_KEYS must be set along with DATABASE_URL/);
    const [, key = ''] = /^ *ENCRYPTION_KEYS=(\S+)$/m.exec(text) ?? [];
    expect(keysOf({ DATABASE_URL: url, ENCRYPTION_KEYS: key })).toEqual([key]);
    return key;
  });
  expect(pasted[0]).not.toBe(pasted[1]);
});

test('mistakes in the keys are reported with all others, and no key is shown', () => {
  const short = second.slice(8);
  const found = problems({ PORT: 'x', DATABASE_URL: url, ENCRYPTION_KEYS: `${first},${short}` });
  expect(found).toEqual([
    '  PORT must be a whole number from 0 to 65535',
    '  ENCRYPTION_KEYS must be 32-byte keys in base64: key 2 of 2 has 26 bytes',
  ]);
  expect(problems({ ENCRYPTION_KEYS_FILE: join(folder, 'bad') })).toEqual([
    '  ENCRYPTION_KEYS_FILE must be 32-byte keys in base64: key 2 of 2 has 26 bytes',
  ]);
});

test.each([
  ['https://groups.example.com', 'https://groups.example.com'],
  ['https://groups.example.com/', 'https://groups.example.com'],
  ['http://[::1]:4000/groups/', 'http://[::1]:4000/groups'],
])('PUBLIC_URL %s is accepted, without a slash at its end', (text, expected) => {
  expect(readConfig({ PUBLIC_URL: text }, false).publicUrl).toBe(expected);
});

test.each([
  'groups.example.com',
  '/groups',
  'ftp://groups.example.com',
  'https://user@groups.example.com',
  'https://:x@groups.example.com',
  'http:groups.example.com',
  'https:///groups.example.com',
  'https:\\\\groups.example.com',
  'https://groups.example.com/\u0001',
  'https://groups.example.com/?a',
  'https://groups.example.com/#a',
  'https://groups.example.com//',
  'https://a b.example.com',
  `https://groups.example.com/${'a'.repeat(230)}`,
])('PUBLIC_URL %s is rejected', (text) => {
  expect(problems({ PUBLIC_URL: text })).toEqual([expect.stringMatching(/PUBLIC_URL must be an http or https URL/)]);
});

test.each([
  ['both settings', { ENCRYPTION_KEYS: first, ENCRYPTION_KEYS_FILE: 'keys' }, /are both set; set one of them$/],
  ['a file that is missing', { ENCRYPTION_KEYS_FILE: '/nowhere/keys' }, /ENCRYPTION_KEYS_FILE cannot be read \(ENOENT\)$/],
  ['a folder', { ENCRYPTION_KEYS_FILE: tmpdir() }, /ENCRYPTION_KEYS_FILE must name a regular file$/],
])('%s are refused', (_, environment, message) => {
  expect(problems({ DATABASE_URL: url, ...environment })).toEqual([expect.stringMatching(message)]);
});

test.each(['~', '~/gateway', '~gateway/data'])('DATA_DIR %s, which only a shell expands, is refused', (path) => {
  expect(problems({ DATA_DIR: path })).toEqual([expect.stringMatching(/^ {2}DATA_DIR must not begin with "~"/)]);
});

test('a key in place of the name of its file is not shown', () => {
  const found = problems({ ENCRYPTION_KEYS_FILE: first });
  expect(found).toEqual(['  ENCRYPTION_KEYS_FILE cannot be read (ENOENT)']);
});

test.runIf(process.platform !== 'win32')('a pipe or a device is refused, not read for ever', () => {
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  for (const file of [fifo, '/dev/zero']) {
    expect(problems({ ENCRYPTION_KEYS_FILE: file })).toEqual(['  ENCRYPTION_KEYS_FILE must name a regular file']);
  }
});

test('a file too large for keys is refused, not read', () => {
  const file = join(folder, 'large');
  writeFileSync(file, '\n'.repeat(64 * 1024 + 1));
  expect(problems({ ENCRYPTION_KEYS_FILE: file })).toEqual(['  ENCRYPTION_KEYS_FILE must name a file of at most 65536 bytes']);
});

test.each([
  ['no slashes', 'postgresql:gateway:secret@db.example/gateway'],
  ['one slash', 'postgresql:/gateway:secret@db.example/gateway'],
  ['a # in the password, which begins a fragment', 'postgresql://gateway:1234#secret@db.example/gateway'],
])('DATABASE_URL with %s is refused: its password would be taken for another part, and shown', (_, text) => {
  const found = problems({ DATABASE_URL: text, ENCRYPTION_KEYS: first });
  expect(found).toEqual([expect.stringMatching(/^ {2}DATABASE_URL must be a PostgreSQL URL such as /)]);
});

test.each([
  ['https://app.example.com', ['https://app.example.com']],
  [
    'https://app.example.com, http://localhost:3000,http://[::1]:8080',
    ['https://app.example.com', 'http://localhost:3000', 'http://[::1]:8080'],
  ],
  ['*', ['*']],
])('CORS_ORIGINS %s is accepted', (text, expected) => {
  expect(readConfig({ CORS_ORIGINS: text }, false).corsOrigins).toEqual(expected);
});

test.each([
  'app.example.com',
  'https://app.example.com/',
  'https://app.example.com/path',
  'https://App.example.com',
  'https://app.example.com:443',
  'https://user@app.example.com',
  'https://*.example.com',
  'https://a.example,,https://b.example',
  'https://a.example,*',
  'file:///',
  'null',
  Array.from({ length: 101 }, (_, index) => `https://a${index}.example`).join(),
])('CORS_ORIGINS %s is rejected', (text) => {
  expect(problems({ CORS_ORIGINS: text })).toEqual([expect.stringMatching(/^ {2}CORS_ORIGINS must/)]);
});

test('WEBHOOKS_ALLOWED_NETWORKS lists networks of both versions', () => {
  const text = '10.1.0.0/16, 192.168.4.7/32,fd00::/8,::1/128';
  const expected = ['10.1.0.0/16', '192.168.4.7/32', 'fd00::/8', '::1/128'];
  expect(readConfig({ WEBHOOKS_ALLOWED_NETWORKS: text }, false).webhooksAllowedNetworks).toEqual(expected);
});

test.each([
  '10.0.0.1',
  '10/8',
  '0xa.0.0.0/8',
  '10.0.0.0/33',
  'fd00::/129',
  'localhost/8',
  '10.0.0.0/8,,fd00::/8',
  '*',
  Array.from({ length: 101 }, (_, index) => `10.0.${index}.0/24`).join(),
])('WEBHOOKS_ALLOWED_NETWORKS %s is rejected', (text) => {
  const found = problems({ WEBHOOKS_ALLOWED_NETWORKS: text });
  expect(found).toEqual([expect.stringMatching(/^ {2}WEBHOOKS_ALLOWED_NETWORKS must/)]);
});

test.each(['-1', '1.5', '1000001', 'x'])('RATE_LIMIT %s is rejected', (text) => {
  expect(problems({ RATE_LIMIT: text })).toEqual(['  RATE_LIMIT must be a whole number from 0 to 1000000']);
});

test.each([
  ['BOOTSTRAP_API_TOKEN', `${issueToken('apiToken')}\n`, 'ends with a line break'],
  ['BOOTSTRAP_API_TOKEN', `\r\n${issueToken('apiToken')}`, 'begins with a line break'],
  ['DATABASE_URL', `${url}\r\n`, 'ends with a line break'],
  ['PUBLIC_URL', ' https://groups.example.com', 'begins with a space'],
  ['PORT', '4000\n', 'ends with a line break'],
  ['DB_NAMED_STATEMENTS', 'true ', 'ends with a space'],
  ['LOG_LEVEL', 'info\n', 'ends with a line break'],
  ['DATA_DIR', '/var/lib/gateway\n', 'ends with a line break'],
  ['ENCRYPTION_KEYS_FILE', '/etc/keys\t', 'ends with a space'],
])('%s with a blank around it (%j): the message says %s', (name, value, problem) => {
  expect(problems({ ENCRYPTION_KEYS: name === 'DATABASE_URL' ? first : '', [name]: value })).toEqual([
    `  ${name} ${problem}; remove it`,
  ]);
});

test('lists and keys may be read from a file, with a line break at the end', () => {
  expect(keysOf({ ENCRYPTION_KEYS: `${first}\n` })).toEqual([first]);
  expect(readConfig({ CORS_ORIGINS: 'https://app.example.com\n' }, false).corsOrigins).toEqual(['https://app.example.com']);
});

test.each([
  ['a chosen one', 'an-operators/own+choice=2026', undefined],
  ['one of 15 characters', 'x'.repeat(15), /must have 16 to 255 printable ASCII characters/],
  ['one with a space', 'an operators own choice', /must have 16 to 255 printable ASCII characters and no spaces/],
  ['one with our prefix and a wrong checksum', `ugk_${'0'.repeat(36)}`, /is mistyped or truncated: its checksum does not match/],
  ['a user group token', issueToken('userGroup'), /is a user group token, not a credential/],
])('BOOTSTRAP_API_TOKEN: %s', (_, token, message) => {
  expect(problems({ BOOTSTRAP_API_TOKEN: token })).toEqual(message ? [expect.stringMatching(message)] : []);
});
