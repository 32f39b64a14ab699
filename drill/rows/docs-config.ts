import type { Reply } from '../request.ts';
import type { Row, Target } from '../row.ts';
import { brokenDocument } from './costs.ts';

const query =
  'query($s:String!,$o:DocsConfigOptions){validateDocsConfig(input:{source:$s},options:$o){valid diagnostics{code message}}}';

const validate = ({ graphql, tokens }: Target, source: string, options?: object): Promise<Reply> =>
  graphql({ query, variables: { s: source, o: options } }, tokens.validate);

/** How long one document may take, in milliseconds: about ten times what the slowest takes. */
const maxReplyMs = 4_000;

/** A row of documents, each of which is checked, including references; a report about an invalid document is a success. */
const documents = (name: string, ...sources: readonly string[]): Row => ({
  name,
  expects: ['2xx', '4xx', 'errors'],
  someExpect: ['2xx'],
  maxReplyMs,
  send: async (target) => {
    const replies: Reply[] = [];
    for (const source of sources) replies.push(await validate(target, source, { files: ['a.mdx', 'b.svg'] }));
    return replies;
  },
});

/** The same text as every page, path and URL. */
const references = (text: string) =>
  JSON.stringify({
    ...{ name: 'A', logo: text, favicon: text, openapi: text },
    navigation: [{ group: 'B', pages: [text] }],
    tabs: [{ name: 'T', url: text }],
  });
const keys = (count: number, key: (i: number) => string) =>
  `{${Array.from({ length: count }, (_, i) => `"${key(i)}":1`).join()}}`;
const kilobytes100 = 100_000;

/** Documents that take long to check. */
export const docsConfigRows: readonly Row[] = [
  documents(
    'words-like-numbers',
    `0${'1'.repeat(kilobytes100)}x`,
    `{"name":+${'1'.repeat(kilobytes100)}x}`,
    `{"name":${'9'.repeat(900_000)}.}`,
  ),
  documents(
    'unclosed-strings',
    `{"name": "a${' '.repeat(kilobytes100)}}\n}`,
    `{"name": "a${' '.repeat(kilobytes100)}x\n}`,
    `{"name": "a", ${' '.repeat(kilobytes100)}x\n"navigation": []}`,
    `{"name": "a\n${' '.repeat(kilobytes100)}x`,
    `{"name": 'a${' ,'.repeat(kilobytes100)}`,
    `{"a": "${'b"c '.repeat(kilobytes100 / 4)}\n}`,
  ),
  documents(
    'addresses-of-marks',
    references(`${'?'.repeat(kilobytes100)}\nx`),
    references(`${'?#'.repeat(kilobytes100 / 2)}\nx`),
    references('/'.repeat(kilobytes100)),
    references('./'.repeat(kilobytes100)),
    references('../'.repeat(kilobytes100 / 2)),
    references(`${' '.repeat(kilobytes100)}x${' '.repeat(kilobytes100)}x`),
    references('#'.repeat(kilobytes100)),
  ),
  documents(
    'spaces-and-comments',
    ' '.repeat(1_000_000),
    '//\n'.repeat(240_000),
    '/*'.repeat(400_000),
    '\n'.repeat(500_000),
    '\u00a0'.repeat(400_000),
  ),
  documents(
    'brackets',
    '['.repeat(900_000),
    '{'.repeat(900_000),
    ']'.repeat(900_000),
    '{"a":['.repeat(120_000),
    '[}'.repeat(400_000),
  ),
  documents('quotes', '"'.repeat(500_000), "'".repeat(900_000), '`"'.repeat(330_000), '\\"'.repeat(240_000), '“'.repeat(300_000)),
  documents(
    'findings',
    brokenDocument(900_000),
    keys(60_000, (i) => `k${i}`),
    keys(60_000, () => 'name'),
    `[${'tru,'.repeat(200_000)}]`,
  ),
  documents(
    'words-nearly-known',
    keys(4_000, (i) => `nam${'e'.repeat(200)}${i}`),
    keys(900, (i) => `${'navigation'.repeat(100)}${i}`),
    keys(1, () => 'navigatio'.repeat(90_000)),
  ),
  documents(
    'punctuation',
    ','.repeat(900_000),
    ':'.repeat(900_000),
    '"a"'.repeat(200_000),
    '"a":'.repeat(170_000),
    '1 '.repeat(400_000),
  ),
  documents(
    'pages-many',
    `{"name":"A","navigation":[{"group":"B","pages":[${Array.from({ length: 70_000 }, (_, i) => `"p${i}"`).join()}]}],"tabs":[${Array.from({ length: 1_000 }, (_, i) => `{"name":"T","url":"q${i}"}`).join()}]}`,
    `{"name":"A","navigation":[{"group":"B","pages":[${'"p",'.repeat(160_000)}"p"]}]}`,
  ),
  documents(
    'numbers-in-a-document',
    `{"name":1${'0'.repeat(400_000)}1}`,
    `{"name":0.${'0'.repeat(400_000)}1e}`,
    `{"name":${'-'.repeat(900_000)}}`,
    `{"name":1${'e1'.repeat(400_000)}}`,
  ),
  {
    name: 'options',
    expects: ['2xx', '4xx', 'errors'],
    send: async (target) => {
      const source = '{"name":"A","navigation":[{"group":"B","pages":["a","b"]}]}';
      const files = Array.from({ length: 60_000 }, (_, i) => `f${i}.mdx`);
      const severities = Array.from({ length: 20_000 }, (_, i) => ({ code: `c${i}`, level: 'ERROR' }));
      return [
        await validate(target, source, { files }),
        await validate(target, source, { files: ['a/'.repeat(400_000)] }),
        await validate(target, source, { severities }),
        await validate(target, source, { severities: Array(300_000).fill(0) }),
      ];
    },
  },
];
