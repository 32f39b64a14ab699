import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Texts that have broken software before, a kind each. */
const naughty: Record<string, string> = {
  'a word that is a value': 'null',
  'another such word': 'undefined',
  'a boolean': 'true',
  'a number': '0',
  'a negative zero': '-0',
  'a number with a leading zero': '007',
  'a huge number': '12345678901234567890',
  'a number with an exponent': '1e400',
  'not a number': 'NaN',
  'a hexadecimal number': '0x1F',
  'a space': ' ',
  'spaces around': '  both sides  ',
  'a tab and line breaks': 'a\tb\r\nc\nd\u2028e\u2029f',
  'odd spaces': '\u00a0\u1680\u2003\u3000x\u200b',
  'control characters': '\u0001\u0007\u001b[31m\u007f\u0085',
  'a byte order mark': '\ufefftext',
  quotes: `'"\`’“„`,
  'doubled quotes': `''""`,
  backslashes: '\\ \\\\ \\n \\u0041 \\x41',
  'JSON text': '{"a":[1,"\\u0000"]}',
  SQL: "'; drop table user_group; --",
  'more SQL': "1' or '1'='1' /* */ $1 $$x$$",
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
  'more of its names': 'hasOwnProperty',
  German: 'Grüße aus Köln, Straße 5',
  Turkish: 'İstanbul ıIiİ',
  'right to left': 'مرحبا שלום',
  'direction marks': '\u202eabc\u202c \u200f\u2066x\u2069',
  'combining marks': 'Z̵̢͍̈́a̸̧̛͓l̶̹̈́g̷̲͝o̵̡͘ e\u0301',
  'a precomposed letter': '\u00e9 \u212b \ufb03',
  Chinese: '田中さんにあげて下さい 漢字 𠜎𠜱',
  emoji: '😀 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪',
  mathematics: '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ∑∫√ ½',
  'the last characters': '\ufffd\ufffe\uffff\u{10ffff}',
  'private use': '\ue000\u{f0000}',
  'a tagged value': '$type',
  'a text as long as may be': '𝒳'.repeat(255),
};

/** Those that a new name or id may not have. */
const unprintable = new Set(['a tab and line breaks', 'control characters', 'a byte order mark', 'direction marks']);

describe.each(Object.entries(naughty))('%s', (kind, text) => {
  const name = unprintable.has(kind) ? `unprintable: ${kind}` : text;
  const mapping = [
    { schemaId: text, dataSource: text },
    { schemaId: 'other', dataSource: `${[...text].slice(0, 254).join('')}.` },
  ];
  const properties = { [text]: text, list: [text, { [text]: [text] }] };
  const select = 'userGroup { id providedId name properties mapping { schemaId dataSource } }';

  test('is stored and returned unchanged over GraphQL', async () => {
    const document = `mutation ($input: GetOrCreateUserGroupInput!) { result: getOrCreateUserGroup(input: $input) {
      ... on GetOrCreateUserGroupPayload { created ${select} } } }`;
    const input = { providedId: name, name, mapping, properties };
    const { json } = await gateway.graphql(document, { input });
    expect(json.data.result).toEqual({ created: true, userGroup: { id: expect.any(String), ...input } });

    const lookUp = `query ($by: UserGroupBy!) { userGroup(by: $by) ${select.slice('userGroup '.length)} }`;
    const found = await gateway.graphql(lookUp, { by: { providedId: name } });
    expect(found.json.data.userGroup).toEqual(json.data.result.userGroup);
  });

  test('is stored and returned unchanged over REST, in the body and in the query string', async () => {
    const { secret: token } = await gateway.issue({ environment: 'Customer' });
    const body = { user_group_id: name, name, properties, mapping: { [text]: text } };
    const created = await gateway.send('GET', '/api/user', { body, token });
    expect(created.json.user_group).toMatchObject({ provided_id: name, name, properties });
    const query = new URLSearchParams({ user_group_id: name, name, properties: JSON.stringify({ text }) });
    const again = await gateway.send('GET', `/api/user?${query}`, { token });
    expect(again.json).toEqual({ ...created.json, new_user_group: false });
    const row = await gateway.database.prisma.userGroup.findFirst({ where: { providedId: name, environmentTag: 'Customer' } });
    expect(row?.mapping).toEqual(body.mapping);
  });

  test('is a token of no group, or not a valid one', async () => {
    const { json } = await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { id } }', { token: text });
    expect(json).toEqual({ data: { userGroup: null } });
    const reply = await gateway.send('POST', '/api/user', { body: { current_token: text } });
    expect([reply.status, reply.json.code]).toEqual([404, 'NOT_FOUND']);
  });
});
