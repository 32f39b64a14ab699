/** A text to validate, and the paths of the site's files if its references are checked. */
interface HostileDocument {
  readonly source: string;
  readonly files?: readonly string[];
}

/** A valid document of about as many characters, as teams write it: what parsing costs at least. */
export function validDocument(characters: number): string {
  const groups = Math.ceil(characters / 190);
  const navigation = Array.from({ length: groups }, (_, index) => ({
    group: `Group ${index}`,
    pages: ['introduction', 'installation', 'reference'].map((page) => `section-${index}/${page}`),
  }));
  return JSON.stringify({ name: 'Acme', navigation }, null, 2);
}

/** Documents of about as many characters that make a validator work hard, by what is hard about them. */
export function hostileDocuments(characters: number): ReadonlyMap<string, HostileDocument> {
  const repeat = (unit: string): string => {
    const parts: string[] = [];
    for (let length = 0; length < characters; length += parts.at(-1)?.length ?? 0)
      parts.push(unit.replaceAll('§', `${parts.length}`));
    return parts.join('');
  };
  /** Different words of a length, that no list has. */
  const words = (length: number) =>
    Array.from({ length: Math.ceil(characters / (length + 4)) }, (_, index) =>
      `${index}${'topbarCtaButton'.repeat(5)}`.slice(0, length),
    );
  const keys = (length: number) => words(length).map((word) => `"${word}":1,`);
  const pages = (list: string) => `{"name":"a","navigation":[{"group":"a","pages":[${list}"x"]}]}`;
  const names = words(60);
  return new Map<string, HostileDocument>([
    [
      'missing pages beside files with similar names',
      { source: pages(names.map((name) => `"${name}",`).join('')), files: names.map((name) => `${name}s.mdx`) },
    ],
    ['a wrong type in every second character', { source: pages(repeat('1,')) }],
    ['unknown keys of 12 letters', { source: `{"name":"a","navigation":[],${keys(12).join('')}"x":1}` }],
    ['unknown keys of 30 letters', { source: `{"name":"a","navigation":[],${keys(30).join('')}"x":1}` }],
    ['values of no list', { source: `{"name":"a","navigation":[],"anchors":[${repeat('{"iconType":"sharp-§"},')}{}]}` }],
    ['a long key above many mistakes', { source: `{"${repeat('k')}":[${repeat('1,')}1],"navigation":[]}` }],
    [
      'tabs that start no page',
      { source: `${pages(repeat('"p§",')).slice(0, -1)},"tabs":[${repeat('{"name":"a","url":"q§"},')}{}]}` },
    ],
    ['duplicate keys', { source: `{${repeat('"name":1,')}"a":1}` }],
    ['keys that belong to objects behind a long list', { source: `{"a":[${repeat('1,')}{},${repeat('"k":1},')}` }],
    ['commas', { source: repeat(',') }],
    ['commas behind the document', { source: `{}${repeat(',')}` }],
    ['words behind a value', { source: `[1 ${repeat('a ')}` }],
    ['digits that end in a letter', { source: `{"name": 0${repeat('1')}x}` }],
    ['a string that ends in spaces and a bracket', { source: `{"name": "a${repeat(' ')}]` }],
    ['comments that do not end', { source: `{${repeat('/*')}` }],
    ['comments before words', { source: `{"name": "a"${repeat(' /**/ a')}"}` }],
    ['merge conflicts', { source: `{${repeat('<<<<<<< a\n=======\n')}` }],
    ['opening brackets', { source: repeat('[') }],
    ['opening braces', { source: repeat('{"a":') }],
  ]);
}
