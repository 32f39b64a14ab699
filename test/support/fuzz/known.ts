/** What is stored, and ways of naming it. */
export interface Known {
  /** Node ids of stored things. */
  readonly ids: readonly string[];
  readonly teamIds: readonly number[];
  readonly providedIds: readonly string[];
  /** User group tokens. */
  readonly tokens: readonly string[];
}

const page = '"navigation": [{"group": "Start", "pages": ["intro", "api/users"]}]';

/** Texts of configuration files: valid ones with each form of every union, and wrong ones. */
const sources: readonly string[] = [
  `{"name": "Acme", ${page}}`,
  `{"name": "Acme", "logo": "/logo.svg", ${page}}`,
  `{"name": "Acme", "logo": {"dark": "/d.svg", "light": "/l.svg", "href": "https://example.com"}, ${page}}`,
  `{"name": "Acme", "anchors": [{"name": "A", "url": "api", "icon": "book", "color": {"from": "#fff", "to": "#000000"}}], ${page}}`,
  `{"name": "Acme", "anchors": [{"name": "A", "url": "api", "icon": "book", "color": "#ff0000"}], "tabs": [{"name": "T", "url": "api"}], ${page}}`,
  '{"name": "Acme", "navigation": [{"group": "A", "pages": ["a", {"group": "B", "pages": ["b", {"group": "C", "pages": ["c"]}]}]}]}',
  `{"name": "Acme", "openapi": "api.json", "versions": ["v1", "v2"], "colors": {"primary": "#123456", "background": {"dark": "#000", "light": "#fff"}}, ${page}}`,
  `{"name": "Acme", "openapi": ["a.json", "b.json"], "modeToggle": {"default": "dark", "isHidden": true}, "topbarCtaButton": {"type": "github", "url": "https://github.com/a/b"}, ${page}}`,
  '{"name": "Acme", "navigation": []}',
  '{"name": 5, "colour": 1}',
  '{"name": "Acme",,}',
  '[]',
  '',
];

const objects: readonly object[] = sources.slice(0, 9).map((source) => JSON.parse(source) as object);

/** Values that mean something at the field or argument of a name; new fields without an entry are drawn from their types alone. */
export function namedValues({ ids, teamIds, providedIds, tokens }: Known): Readonly<Record<string, readonly unknown[]>> {
  return {
    id: [...ids, 'bm9uZTox', 'nonsense', ''],
    ids: [...ids, 'bm9uZTox', 'nonsense'],
    teamId: [...teamIds, 0, -1, 2_147_483_647],
    providedId: [...providedIds, 'nobody', ''],
    token: [...tokens, 'ugt_short', 'an unknown one, imported'],
    currentToken: [`ugt_${'0'.repeat(36)}`, 'an unknown one, imported', ''],
    graceSeconds: [0, 5, -1, 604_801],
    source: sources,
    value: objects,
    code: ['nested-group', 'hex-color', 'nothing'],
    files: ['intro.mdx', 'api/users.md', ''],
    properties: [{ plan: 'gold' }, {}, null, [1], { a: [1, true, { b: null }] }],
    name: ['Same', 'UserGroup', 'DocsConfigLogo', 'Error', 'ErrorCode', 'DocsConfigInput', 'Nothing', ''],
    scopes: ['groups:read', 'nothing'],
  };
}
