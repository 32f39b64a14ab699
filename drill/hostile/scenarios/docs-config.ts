import type { HostileScenario, Target } from '../hostile-scenario.ts';
import type { Reply } from '../request.ts';

/** A document of about `bytes` with a diagnostic every few characters. */
const brokenDocument = (bytes: number) => `{"name":"A","navigation":[{"group":"B","pages":[${'1,'.repeat(bytes / 2)}1]}]}`;

const query =
  'query($s:String!,$o:DocsConfigOptions){validateDocsConfig(input:{source:$s},options:$o){valid diagnostics{code message}}}';

const validate = ({ graphql, tokens }: Target, source: string, options?: object): Promise<Reply> =>
  graphql({ query, variables: { s: source, o: options } }, tokens.validate);

/** How long one document may take, in milliseconds: about ten times what the slowest takes. */
const maxReplyMs = 1_000;

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
    'findings',
    brokenDocument(250_000),
    keys(20_000, (i) => `k${i}`),
    keys(25_000, () => 'name'),
    `[${'tru,'.repeat(60_000)}]`,
  ),
];
