/** A text to validate, and the paths of the site's files if its references are checked. */
export interface HostileDocument {
  readonly name: string;
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

/** Documents of about as many characters that make a validator work hard, each named by what is hard about it. */
export function hostileDocuments(characters: number): readonly HostileDocument[] {
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
  return [
    {
      name: 'missing pages beside files with similar names',
      source: pages(names.map((name) => `"${name}",`).join('')),
      files: names.map((name) => `${name}s.mdx`),
    },
    { name: 'a wrong type in every second character', source: pages(repeat('1,')) },
    { name: 'unknown keys of 12 letters', source: `{"name":"a","navigation":[],${keys(12).join('')}"x":1}` },
    { name: 'unknown keys of 30 letters', source: `{"name":"a","navigation":[],${keys(30).join('')}"x":1}` },
    { name: 'values of no list', source: `{"name":"a","navigation":[],"anchors":[${repeat('{"iconType":"sharp-§"},')}{}]}` },
    { name: 'a long key above many mistakes', source: `{"${repeat('k')}":[${repeat('1,')}1],"navigation":[]}` },
    {
      name: 'tabs that start no page',
      source: `${pages(repeat('"p§",')).slice(0, -1)},"tabs":[${repeat('{"name":"a","url":"q§"},')}{}]}`,
    },
    { name: 'duplicate keys', source: `{${repeat('"name":1,')}"a":1}` },
    { name: 'keys that belong to objects behind a long list', source: `{"a":[${repeat('1,')}{},${repeat('"k":1},')}` },
    { name: 'commas', source: repeat(',') },
    { name: 'commas behind the document', source: `{}${repeat(',')}` },
    { name: 'words behind a value', source: `[1 ${repeat('a ')}` },
    { name: 'digits that end in a letter', source: `{"name": 0${repeat('1')}x}` },
    { name: 'a string that ends in spaces and a bracket', source: `{"name": "a${repeat(' ')}]` },
    { name: 'comments that do not end', source: `{${repeat('/*')}` },
    { name: 'comments before words', source: `{"name": "a"${repeat(' /**/ a')}"}` },
    { name: 'merge conflicts', source: `{${repeat('<<<<<<< a\n=======\n')}` },
    { name: 'opening brackets', source: repeat('[') },
    { name: 'opening braces', source: repeat('{"a":') },
  ];
}
