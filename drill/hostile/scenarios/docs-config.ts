import type { HostileScenario, Target } from '../hostile-scenario.ts';
import type { Reply } from '../request.ts';
import { brokenDocument } from './costs.ts';

const query =
  'query($s:String!,$o:DocsConfigOptions){validateDocsConfig(input:{source:$s},options:$o){valid diagnostics{code message}}}';

const validate = ({ graphql, tokens }: Target, source: string, options?: object): Promise<Reply> =>
  graphql({ query, variables: { s: source, o: options } }, tokens.validate);

/** How long one document may take, in milliseconds: about ten times what the slowest takes. */
const maxReplyMs = 4_000;

/** A scenario of documents, each of which is checked, including references; a report about an invalid document is a success. */
const documents = (name: string, ...sources: readonly string[]): HostileScenario => ({
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

const keys = (count: number, key: (i: number) => string) =>
  `{${Array.from({ length: count }, (_, i) => `"${key(i)}":1`).join()}}`;

/** Documents that take long to check. */
export const docsConfigScenarios: readonly HostileScenario[] = [
  documents(
    'brackets',
    '['.repeat(900_000),
    '{'.repeat(900_000),
    ']'.repeat(900_000),
    '{"a":['.repeat(120_000),
    '[}'.repeat(400_000),
  ),
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
    'pages-many',
    `{"name":"A","navigation":[{"group":"B","pages":[${Array.from({ length: 70_000 }, (_, i) => `"p${i}"`).join()}]}],"tabs":[${Array.from({ length: 1_000 }, (_, i) => `{"name":"T","url":"q${i}"}`).join()}]}`,
    `{"name":"A","navigation":[{"group":"B","pages":[${'"p",'.repeat(160_000)}"p"]}]}`,
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
