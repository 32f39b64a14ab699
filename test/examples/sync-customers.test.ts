import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstalledExample, installExample, installTimeoutMs } from '../support/examples.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let example: InstalledExample;
let apiToken: string;
beforeAll(async () => {
  gateway = await startGateway();
  apiToken = (await gateway.issue({ scopes: ['groups:write'] })).secret;
  example = await installExample('sync-customers');
}, installTimeoutMs);
afterAll(async () => {
  example?.remove();
  await gateway?.close();
});

/** Runs the example with a file of this content, or with its own. */
async function sync(content?: string | Uint8Array, settings: Readonly<Record<string, string>> = {}) {
  if (content !== undefined) writeFileSync(join(example.folder, 'test.csv'), content);
  const args = ['sync.js', ...(content === undefined ? [] : ['test.csv'])];
  return example.run(args, { GATEWAY: gateway.url, API_TOKEN: apiToken, ...settings });
}

const groups = async () => {
  const stored = await gateway.database.prisma.userGroup.findMany({ orderBy: { providedId: 'asc' } });
  return stored.map(({ providedId, name, properties }) => ({ providedId, name, properties }));
};

test('creates the customers of a file, and changes nothing when it runs again', async () => {
  expect(await sync()).toMatchObject({ code: 0, stdout: '3 created, 0 updated, 0 unchanged, 0 failed\n', stderr: '' });
  const first = await groups();
  expect(first).toEqual([
    { providedId: 'acme', name: 'ACME Corporation', properties: { plan: 'gold', region: 'eu' } },
    { providedId: 'globex', name: 'Globex, Inc.', properties: { plan: 'free', region: 'us' } },
    { providedId: 'hooli', name: 'Hooli', properties: { region: 'us' } },
  ]);
  const events = await gateway.database.prisma.event.count();
  expect(await sync()).toMatchObject({ code: 0, stdout: '0 created, 0 updated, 3 unchanged, 0 failed\n' });
  expect(await groups()).toEqual(first);
  expect(await gateway.database.prisma.event.count()).toBe(events);
});

test('updates what differs, keeps other properties, and reports each line that fails', async () => {
  await gateway.send('PUT', '/api/user', {
    body: { user_group_id: 'acme', properties: { plan: 'gold', region: 'eu', seats: 5 } },
  });
  const lines = [
    'id,name,plan',
    'acme,"ACME ""Corp""",',
    '',
    'initech,Initech,gold',
    'acme,again,',
    ',nobody,',
    'globex,,',
    `${'x'.repeat(256)},long,`,
    'evil\u001b[31m\u202e\u200d,colored and reversed,',
  ];
  // As when somebody has joined files of several systems.
  const text = lines.join('\r\n').replace('plan\r\n', 'plan\n').replace('gold\r\n', 'gold\r');
  const ended = await sync(`\ufeff${text}\r\n`);
  expect(ended).toMatchObject({ code: 1, stdout: '1 created, 2 updated, 0 unchanged, 4 failed\n' });
  expect(ended.stderr.trim().split('\n').sort()).toEqual([
    'test.csv:5: acme: An earlier line has the same id.',
    'test.csv:6: : The column id is empty.',
    expect.stringMatching(/^test\.csv:8: x+: .*providedId/),
    expect.stringMatching(/^test\.csv:9: evil\ufffd\[31m\ufffd\u200d: .*providedId/),
  ]);
  expect(await groups()).toMatchObject([
    { providedId: 'acme', name: 'ACME "Corp"', properties: { region: 'eu', seats: 5 } },
    { providedId: 'globex', name: 'Globex, Inc.', properties: { region: 'us' } },
    {},
    { providedId: 'initech', name: 'Initech', properties: { plan: 'gold' } },
  ]);
});

test.each([
  ['is not UTF-8', Uint8Array.from([...Buffer.from('id,name\na,M'), 0xfc, 0x0a]), {}, 'ERR_ENCODING_INVALID_ENCODED_DATA'],
  ['has a line with too few fields', 'id,name,plan\nnew,New,gold\nother,Other\n', {}, 'CSV_RECORD_INCONSISTENT_COLUMNS'],
  ['is empty', '', {}, 'has no column "id", has no column "name". Nothing was sent.'],
  ['has nothing but empty lines', '\ufeff\n\n', {}, 'has no column "id", has no column "name". Nothing was sent.'],
  ['has no column name', 'id,plan\nacme,gold\n', {}, 'has no column "name". Nothing was sent.'],
  [
    'has a column in another case',
    'id,Name,plan\nacme,ACME,gold\n',
    {},
    'has no column "name", has an unknown column "Name". Nothing was sent.',
  ],
  ['has a column twice', 'id,name,plan,plan\nacme,ACME,gold,free\n', {}, 'has the column "plan" twice. Nothing was sent.'],
  ['is sent with a wrong API token', 'id,name\nnew,New\n', { API_TOKEN: 'ugk_of_nobody_at_all' }, 'UNAUTHENTICATED'],
] as const)('changes nothing when the file %s, and says so', async (_, content, settings, code) => {
  const before = await groups();
  const ended = await sync(content, settings);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(code);
  expect(await groups()).toEqual(before);
});

test('says what was done also when the gateway refuses to read one of the requests', async () => {
  const lines = [`huge,${'x'.repeat(2_000_000)}`, ...Array.from({ length: 7 }, (_, index) => `beside-${index},Name`)];
  const ended = await sync(['id,name', ...lines].join('\n'));
  expect(ended).toMatchObject({ code: 1, stdout: '7 created, 0 updated, 0 unchanged, 0 failed\n' });
  expect(ended.stderr).toContain('PAYLOAD_TOO_LARGE');
});

test('creates each of many customers once', async () => {
  const lines = Array.from({ length: 200 }, (_, index) => `many-${index},Name ${index},plan ${index % 3}`);
  const before = (await groups()).length;
  expect(await sync(['id,name,plan', ...lines].join('\n'))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^200 created/),
  });
  expect((await groups()).length).toBe(before + 200);
});
