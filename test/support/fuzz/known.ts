import { tokenPrefixes } from '../../../src/token-prefixes.ts';
import { apiTokenId } from '../node-id.ts';
import { forgedToken } from '../tokens.ts';

/** What is stored, and ways of naming it. */
export interface Known {
  /** Node ids of stored things. */
  readonly ids: readonly string[];
  readonly teamIds: readonly number[];
  readonly providedIds: readonly string[];
  /** User group tokens. */
  readonly tokens: readonly string[];
  /** Cursors of the list of groups in its default order, of the list of API tokens, and of events. */
  readonly cursors: readonly string[];
}

const nested = '[{"group": "A", "pages": ["a", {"group": "B", "pages": ["b", {"group": "C", "pages": ["c"]}]}]}]';

/** A valid file in which everything that may be written as a string is one. */
const withStrings = `{"name": "Acme", "logo": "/logo.svg", "openapi": "api.json", "versions": ["v1", "v2"],
  "anchors": [{"name": "A", "url": "api", "icon": "book", "color": "#ff0000"}], "tabs": [{"name": "T", "url": "api"}],
  "navigation": [{"group": "Start", "pages": ["intro", "api/users"]}]}`;

/** The same with objects and lists, and with everything else that the format has groups of. */
const withObjects = `{"name": "Acme", "logo": {"dark": "/d.svg", "light": "/l.svg", "href": "https://example.com"}, "openapi": ["a.json"],
  "anchors": [{"name": "A", "url": "api", "icon": "book", "color": {"from": "#fff", "to": "#000000"}}], "topAnchor": {"name": "Top"},
  "colors": {"primary": "#123456", "background": {"dark": "#000", "light": "#fff"}}, "modeToggle": {"default": "dark"},
  "topbarCtaButton": {"type": "github", "url": "https://github.com/a/b"}, "footerSocials": {"github": "https://github.com/a"},
  "navigation": [{"group": "Start", "pages": ["intro", "api/users"]}]}`;

/** Texts of configuration files: valid ones with each form of every union, and wrong ones. */
const sources: readonly string[] = [
  withStrings,
  withObjects,
  `{"name": "Acme", "logo": "/l.svg", "navigation": ${nested}}`,
  '{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro"]}]}',
  '{"name": "Acme", "navigation": []}',
  '{"name": 5, "colour": 1}',
  '{"name": "Acme",,}',
  '',
];

const objects: readonly object[] = sources.slice(0, 6).map((source) => JSON.parse(source) as object);

/** Values by the name of a field or argument at which they mean something. */
export type NamedValues = Readonly<Record<string, readonly unknown[]>>;

/** Values by names; fields without an entry, new ones for example, are drawn from their types alone. */
export function namedValues({ ids, teamIds, providedIds, tokens, cursors }: Known): NamedValues {
  return {
    id: [...ids, '999999999', 'bm9uZTox', 'nonsense', ''],
    ids: [...ids, 'bm9uZTox', 'nonsense'],
    teamId: [...teamIds, 0, -1, 2_147_483_647],
    providedId: [...providedIds, 'nobody', ''],
    providedIds: [...providedIds, 'nobody', ''],
    first: [1, 2, 100, 101],
    last: [1, 2, 0],
    after: [...cursors, 'nonsense'],
    before: [...cursors, ''],
    search: ['acme', 'SAM', 'Ä€', '%', ''],
    path: ['plan', 'nested', '1', 'a'],
    equals: ['gold', 1, { a: null }, [1]],
    schemaId: ['a', '__proto__', ''],
    token: [...tokens, `${tokenPrefixes.userGroup}short`, 'an unknown one, imported'],
    currentToken: [forgedToken('userGroup'), 'an unknown one, imported', ''],
    graceSeconds: [0, 5, -1, 604_801],
    expectedVersion: [1, 2, 0, 2_147_483_647],
    source: sources,
    value: objects,
    code: ['nested-group', 'hex-color', 'nothing'],
    files: ['intro.mdx', 'api/users.md', ''],
    properties: [{ plan: 'gold' }, {}, null, [1], { a: [1, true, { b: null }] }],
    name: ['Same', 'UserGroup', 'DocsConfigRange', 'Error', 'ErrorCode', 'DocsConfigInput', 'Nothing', ''],
    // None that exists, because the secret of an API token that is created is never the same again.
    apiTokenId: [apiTokenId(1), apiTokenId(2), apiTokenId(0), 'nonsense'],
    overlapSeconds: [0, 60, -1, 604_801],
    audience: ['dashboards', ''],
    expiresInSeconds: [60, 86_400, 59, 86_401, -1],
  };
}

/**
 * The same without ids that get-or-create would take for a new group's, and without versions that a group has before the mutation
 * and not after it: with these a mutation can be sent again and again.
 */
export function repeatableValues(known: Known): NamedValues {
  return { ...namedValues(known), providedId: [...known.providedIds, ''], expectedVersion: [0, 2_147_483_647] };
}
