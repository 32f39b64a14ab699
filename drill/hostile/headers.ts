import type { HostileRequests } from './hostile.ts';

const body = '{"query":"{__typename}"}';
const post = (...headers: string[]) =>
  ['POST /graphql HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n');
const typed = (header: string) => post('Content-Type: application/json', header);

const long = 15_000;
const accepted = ['a/b;q=0,'.repeat(1_850), 'a/b,'.repeat(3_500), '*/*;'.repeat(3_500), ';'.repeat(long), ','.repeat(long)];
const types = [';'.repeat(long), ' '.repeat(long), 'charset='.repeat(1_800), `application/json${';charset=utf-8'.repeat(1_000)}`];
const credentials = [
  `Token${' '.repeat(long)}a b`,
  `Token ${'a '.repeat(long / 2)}`,
  ' '.repeat(long),
  `Token ugk_${'0'.repeat(long)}`,
  `Bearer${' '.repeat(long)}`,
];
const others = [
  `X-Request-Id: ${'a.'.repeat(long / 2)}`,
  `Cookie: ${'a=b;'.repeat(long / 4)}`,
  'A:b\r\n'.repeat(1_900).trimEnd(),
  `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_800)}`,
];
const targets = [
  '/'.repeat(long),
  `/docs/errors/${'A'.repeat(long)}`,
  `http://${'a'.repeat(long)}`,
  `a${'a+'.repeat(long / 2)}`,
  `/docs/${'-'.repeat(long)}/x`,
  `/graphql?${'&'.repeat(long)}`,
  `/api/user?${'%'.repeat(long)}`,
  `/api/user?${'user_group_id=a&'.repeat(900)}`,
  `/graphql?query=${'%7B'.repeat(long / 3)}`,
];

/** Headers that take long to read, and floods of chunks. */
export const headerScenarios: readonly HostileRequests[] = [
  {
    name: 'long-headers',
    summary: 'headers and targets of 15,000 characters that are slow to read',
    expects: ['2xx', '4xx', 'errors'],
    send({ openMany }) {
      const texts = [
        ...accepted.map((value) => typed(`Accept: ${value}`)),
        ...types.map((value) => post(`Content-Type: ${value}`)),
        ...credentials.map((value) => typed(`Authorization: ${value}`)),
        ...others.map(typed),
        ...targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
      ];
      return openMany(texts.length, (i) => ({ bytes: texts[i] as string, holdMs: 8_000 }));
    },
  },
  {
    // As much as Node.js reads of each connection at once, which it parses to its end whatever becomes of the request.
    name: 'tiny-chunks-of-many',
    summary: 'chunks of a byte, over 50 connections',
    expects: ['4xx', '503', 'closed'],
    isRefused: true,
    send({ openMany }) {
      const head = 'POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
      const bytes = Buffer.from(`${head}${'1\r\n[\r\n'.repeat(10_900)}`);
      return openMany(50, () => ({ bytes }));
    },
  },
];
