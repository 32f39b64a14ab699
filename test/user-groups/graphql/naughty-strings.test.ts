import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Texts that have broken software before, a kind each. */
const naughty: Record<string, string> = {
  'a word that is a value': 'null',
  'a boolean': 'true',
  'a number': '0',
  'a huge number': '12345678901234567890',
  'a number with an exponent': '1e400',
  'a space': ' ',
  'spaces around': '  both sides  ',
  'a tab and line breaks': 'a\tb\r\nc\nd\u2028e\u2029f',
  'odd spaces': '\u00a0\u1680\u2003\u3000x\u200b',
  'control characters': '\u0001\u0007\u001b[31m\u007f\u0085',
  'a byte order mark': '\ufefftext',
  quotes: `'"\`’“„`,
  backslashes: '\\ \\\\ \\n \\u0041 \\x41',
  'JSON text': '{"a":[1,"\\u0000"]}',
  SQL: "'; drop table user_group; --",
  'a pattern': '%_\\%*?[a-z]',
  GraphQL: '{ userGroup(by: {teamId: 1}) { token } } # "',
  HTML: '<script>alert(1)</script><img src=x onerror=alert(1)>&amp;&#39;',
  'a template': '{{7*7}} $' + '{7*7} <%= 7*7 %> #{7*7}',
  'a shell command': '$(rm -rf /) `id` ; | & > /dev/null',
  'format specifiers': '%s %d %n %x %%',
  'a path': '../../../../etc/passwd%00',
  'a URL': 'https://user:password@example.org/?a=b&c=d#e',
  'percent-encoding': '%41%00%FF+%2B',
  'JavaScript’s own names': 'constructor',
  Turkish: 'İstanbul ıIiİ',
  'right to left': 'مرحبا שלום',
  'direction marks': '\u202eabc\u202c \u200f\u2066x\u2069',
  'combining marks': 'Z̵̢͍̈́a̸̧̛͓l̶̹̈́g̷̲͝o̵̡͘ e\u0301',
  Chinese: '田中さんにあげて下さい 漢字 𠜎𠜱',
  emoji: '😀 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪',
  'the last characters': '\ufffd\ufffe\uffff\u{10ffff}',
  'a text as long as may be': '𝒳'.repeat(255),
};

/** Those that a new name or id may not have. */
const unprintable = new Set(['a tab and line breaks', 'control characters', 'a byte order mark', 'direction marks']);
const texts = Object.values(naughty);
const names = Object.keys(naughty).flatMap((kind) => (unprintable.has(kind) ? [] : [naughty[kind] ?? '']));
const properties = { ...Object.fromEntries(texts.map((text) => [text, text])), list: [texts, { in: [texts] }] };
const mapping = Object.fromEntries(texts.map((text) => [text, `${[...text].slice(0, 254).join('')}.`]));

test('as values they are stored and returned unchanged, over either API', async () => {
  const document = `mutation ($input: GetOrCreateUserGroupInput!) { result: getOrCreateUserGroup(input: $input) {
    ... on GetOrCreateUserGroupPayload { userGroup { properties mapping { schemaId dataSource } } } } }`;
  const entries = Object.entries(mapping).map(([schemaId, dataSource]) => ({ schemaId, dataSource }));
  const input = { properties, mapping: entries };
  const { json } = await gateway.graphql(document, { input: { ...input, providedId: 'values' } });
  expect(json.data.result.userGroup).toEqual(input);
  const created = await gateway.send('GET', '/api/user', { body: { user_group_id: 'of REST', properties, mapping } });
  expect(created.json.user_group.properties).toEqual(properties);
  expect(await gateway.database.prisma.userGroup.findFirst({ where: { providedId: 'of REST' } })).toMatchObject({ mapping });
});

test('as an id and a name they are, in a body and in a query string', async () => {
  const groups = names.map((name) => ({ providedId: name, name }));
  const bulk = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) {
    ... on GetOrCreateUserGroupsPayload { results { ... on GetOrCreateUserGroupPayload { userGroup { providedId name } } } } } }`;
  const { json } = await gateway.graphql(bulk, { groups });
  expect(json.data.getOrCreateUserGroups.results).toEqual(groups.map((userGroup) => ({ userGroup })));
  for (const name of names) {
    const reply = await gateway.send('GET', `/api/user?${new URLSearchParams({ user_group_id: name })}`);
    expect(reply.json).toMatchObject({ new_user_group: false, user_group: { provided_id: name, name } });
  }
});

test('as a token they are those of no group', async () => {
  const check = async (token: string) => {
    const { json } = await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { id } }', { token });
    expect(json).toEqual({ data: { userGroup: null } });
    expect((await gateway.send('POST', '/api/user', { body: { current_token: token } })).json.code).toBe('NOT_FOUND');
  };
  await Promise.all(texts.map(check));
});
