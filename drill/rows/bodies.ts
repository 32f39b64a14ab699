import type { Row } from '../row.ts';

/** The maximum size of a body in bytes. */
const bodyBytes = 1_048_576;
const fill = (text: string) => Buffer.from(text.repeat(Math.floor(bodyBytes / text.length)));

/**
 * The same body over many connections concurrently: without a credential, and with one, because without one a body may be no
 * larger than an eighth of this.
 */
const flood = (name: string, make: () => Buffer): Row => ({
  name,
  expects: ['4xx', '503'],
  someExpect: ['4xx'],
  send: async ({ send, tokens }) => {
    const body = make();
    const headers = { accept: 'application/graphql-response+json' };
    return Promise.all(Array.from({ length: 32 }, (_, i) => send({ body, headers, token: i % 2 ? tokens.groups : undefined })));
  },
});

/** Bodies of 1 MiB that are slow to parse. */
export const bodyRows: readonly Row[] = [
  flood('body-of-brackets', () => fill('[')),
  flood('body-of-braces', () => fill('{"a":')),
  flood('body-of-empty-lists', () => fill('[],')),
  flood('body-closed-brackets', () => Buffer.from(`{"query":${'['.repeat(bodyBytes / 2 - 8)}${']'.repeat(bodyBytes / 2 - 8)}}`)),
  flood('body-of-objects', () => Buffer.from(`[${'{"a":{}},'.repeat(bodyBytes / 9 - 2)}{}]`)),
  flood('body-of-one-member', () => Buffer.from(`{${'"a":1,'.repeat(bodyBytes / 6 - 2)}"b":1}`)),
  flood('body-of-members', () => Buffer.from(`{${Array.from({ length: 90_000 }, (_, i) => `"m${i}":1`).join()}}`)),
  flood('body-of-escapes', () => Buffer.from(`{"${'\\u0061'.repeat(bodyBytes / 6 - 4)}":1}`)),
  flood('body-of-backslashes', () => Buffer.from(`{"query":"${'\\\\'.repeat(bodyBytes / 2 - 16)}"}`)),
  flood('body-of-quotes', () => Buffer.from(`{"query":"${'\\"'.repeat(bodyBytes / 2 - 16)}"}`)),
  flood('body-of-colliding-names', () =>
    Buffer.from(`{${Array.from({ length: 60_000 }, (_, i) => `"${i * 65_536}":0`).join()}}`),
  ),
];
