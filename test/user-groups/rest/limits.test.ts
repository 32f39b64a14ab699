import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});
afterAll(() => gateway.close());

const create = (body: unknown) => gateway.send('GET', '/api/user', { body });
const groups = () => gateway.database.prisma.userGroup.findMany();

/** A character outside the basic plane: one character, two UTF-16 units, four bytes. */
const astral = '😀';
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`schema ${i}`, `source ${i}`]));
const nested = (levels: number): object => (levels > 1 ? { a: nested(levels - 1) } : {});
const inLists = (levels: number): object => ({ a: JSON.parse('['.repeat(levels - 1) + ']'.repeat(levels - 1)) });
/** Properties whose JSON without spaces has this many bytes. */
const sized = (bytes: number, character = 'x') => {
  const width = Buffer.byteLength(character);
  const room = bytes - '{"a":""}'.length;
  return { a: character.repeat(Math.floor(room / width)) + 'x'.repeat(room % width) };
};

/** A mapping whose JSON has this many bytes, some 64 KiB, most of them in values of this character. */
const sizedMapping = (bytes: number, character = 'x') => {
  const value = character.repeat(Math.floor(200 / Buffer.byteLength(character)));
  const mapping = Object.fromEntries(Array.from({ length: 303 }, (_, i) => [`schema ${i}`, value]));
  const room = bytes - Buffer.byteLength(JSON.stringify({ ...mapping, last: '' }));
  return { ...mapping, last: 'x'.repeat(room) };
};

describe('at the limit', () => {
  test.each<[string, Record<string, unknown>]>([
    ['an id of 1 character', { user_group_id: 'x' }],
    ['an id of 255 characters', { user_group_id: 'x'.repeat(255) }],
    ['an id of 255 characters of two bytes', { user_group_id: 'ä'.repeat(255) }],
    ['an id of 255 astral characters', { user_group_id: astral.repeat(255) }],
    ['a name of 1 character', { name: ' ' }],
    ['a name of 255 characters', { name: 'x'.repeat(255) }],
    ['a name of 255 astral characters', { name: astral.repeat(255) }],
    ['a schema id of 255 characters', { mapping: { ['x'.repeat(255)]: 's' } }],
    ['a schema id of 255 astral characters', { mapping: { [astral.repeat(255)]: 's' } }],
    ['a data source of 255 characters', { mapping: { s: 'x'.repeat(255) } }],
    ['a data source of 255 astral characters', { mapping: { s: astral.repeat(255) } }],
    ['a mapping of 1,000 entries', { mapping: entries(1_000) }],
    ['a mapping of 64 KiB', { mapping: sizedMapping(65_536) }],
    ['a mapping of 64 KiB in characters of four bytes', { mapping: sizedMapping(65_536, astral) }],
    ['properties of 64 KiB', { properties: sized(65_536) }],
    ['properties of 64 KiB in characters of four bytes', { properties: sized(65_536, astral) }],
    ['properties of 32 levels', { properties: nested(32) }],
    ['properties of 32 levels, lists among them', { properties: inLists(32) }],
  ])('%s is stored unchanged', async (_, members) => {
    const { user_group_id = 'g', name = user_group_id, mapping = {}, properties = null } = members;
    expect((await create({ user_group_id: 'g', ...members })).status).toBe(200);
    expect(await groups()).toMatchObject([{ providedId: user_group_id, name, mapping, properties }]);
  });

  test('properties count without whitespace', async () => {
    const body = `{"user_group_id":"g","properties":${JSON.stringify(sized(65_536)).replace(':', `${' '.repeat(9_000)}:`)}}`;
    expect((await create(body)).status).toBe(200);
  });

  test('a text counts by its characters, not by its escapes', async () => {
    const body = `{"user_group_id":"${'\\ud83d\\ude00'.repeat(255)}"}`;
    expect((await create(body)).json.user_group.provided_id).toBe(astral.repeat(255));
  });
});

describe('one past the limit', () => {
  const escaped = Array.from({ length: 50 }, (_, i) => [`schema ${i}`, '\u0001'.repeat(255)]);
  const cases: [string, Record<string, unknown>, string][] = [
    ['an empty id', { user_group_id: '' }, 'user_group_id'],
    ['an id of 256 characters', { user_group_id: 'x'.repeat(256) }, 'user_group_id'],
    ['an id of 256 astral characters', { user_group_id: astral.repeat(256) }, 'user_group_id'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name'],
    ['a name of 256 astral characters', { name: astral.repeat(256) }, 'name'],
    ['a schema id of 256 characters', { mapping: { ['x'.repeat(256)]: 's' } }, 'mapping'],
    ['a data source of 256 characters', { mapping: { s: 'x'.repeat(256) } }, 'mapping'],
    ['a mapping of 1,001 entries', { mapping: entries(1_001) }, 'mapping'],
    ['a mapping of 64 KiB and a byte', { mapping: sizedMapping(65_537) }, 'mapping'],
    ['a mapping of 64 KiB and a byte, in characters of four', { mapping: sizedMapping(65_537, astral) }, 'mapping'],
    ['a mapping of characters with long escapes', { mapping: Object.fromEntries(escaped) }, 'mapping'],
    ['properties of 64 KiB and a byte', { properties: sized(65_537) }, 'properties'],
    ['properties of 64 KiB and a byte, in characters of four', { properties: sized(65_537, astral) }, 'properties'],
    ['properties of 33 levels', { properties: nested(33) }, 'properties'],
    ['properties of 33 levels, lists among them', { properties: inLists(33) }, 'properties'],
  ];
  test.each(cases)('%s is not created', async (_, members, path) => {
    const { status, json } = await create({ user_group_id: 'g', ...members });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: expect.arrayContaining([path]) }] });
    expect(await groups()).toEqual([]);
  });
});

describe('nested 200 levels deep', () => {
  const deep = (open: string, close: string) => open.repeat(200) + close.repeat(200);
  test.each([
    ['properties of lists', 'properties', `{"a":${deep('[', ']')}}`],
    ['properties of objects', 'properties', `${deep('{"a":', '}').replace(/:}/, ':1}')}`],
    ['a name', 'name', deep('[', ']')],
    ['a mapping', 'mapping', deep('[', ']')],
    ['a data source', 'mapping', `{"s":${deep('[', ']')}}`],
  ])('%s is rejected like any other', async (_, member, value) => {
    const { status, json } = await create(`{"user_group_id":"g","${member}":${value}}`);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(json.issues[0].path[0]).toBe(member);
  });
});

test.each([
  ['lists', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['lists behind closed ones', `[${'[],'.repeat(500)}${'['.repeat(256)}${']'.repeat(256)}]`],
  ['brackets that are never closed', '['.repeat(1_000_000)],
])('rejects a body of %s nested deeper than 256 levels before it is parsed', async (_, value) => {
  const { status, json } = await create(`{"user_group_id":"g","properties":${value}}`);
  expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
  expect(json.detail).toContain('256 levels');
});

describe.each([
  ['NUL', '\\u0000'],
  ['a lone high surrogate', '\\ud83d'],
  ['a lone low surrogate', '\\ude00'],
  ['surrogates the wrong way round', '\\ude00\\ud83d'],
])('%s', (_, text) => {
  test.each([
    ['the id', `{"user_group_id":"g${text}"}`],
    ['the name', `{"user_group_id":"g","name":"n${text}"}`],
    ['a schema id', `{"user_group_id":"g","mapping":{"s${text}":"d"}}`],
    ['a data source', `{"user_group_id":"g","mapping":{"s":"d${text}"}}`],
    ['a property', `{"user_group_id":"g","properties":{"p":"v${text}"}}`],
    ['a property’s name', `{"user_group_id":"g","properties":{"p${text}":"v"}}`],
    ['a property deep down', `{"user_group_id":"g","properties":{"p":[{"q":["v${text}"]}]}}`],
    ['a property’s name deep down', `{"user_group_id":"g","properties":{"p":[{"q${text}":1}]}}`],
  ])('in %s is rejected', async (_place, body) => {
    const { status, json } = await create(body);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await groups()).toEqual([]);
  });
});
