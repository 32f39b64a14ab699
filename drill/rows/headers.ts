import type { RawOptions } from '../connections.ts';
import type { Row, Target } from '../row.ts';

const raw = ({ connections }: Target, bytes: string, options: Partial<RawOptions> = {}) =>
  connections.open({ bytes, holdMs: 8_000, ...options });

const body = '{"query":"{__typename}"}';
const post = (headers: string, content = body) =>
  `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${content.length}\r\n${headers}\r\n${content}`;

/** Sends each text over its own connection. */
const texts = (name: string, expects: Row['expects'], ...list: readonly string[]): Row => ({
  name,
  ...(expects && { expects }),
  send: (target) => Promise.all(list.map((text) => raw(target, text))),
});

const long = 15_000;

/** Headers that take long to read, and requests that are not valid HTTP. */
export const headerRows: readonly Row[] = [
  {
    name: 'accept',
    expects: ['2xx', '4xx'],
    send: (target) =>
      Promise.all(
        [
          'a/b;q=0,'.repeat(1_850),
          'a/b,'.repeat(3_500),
          '*/*;'.repeat(3_500),
          ';'.repeat(long),
          ','.repeat(long),
          ' '.repeat(long),
        ].map((accept) => raw(target, post(`Accept: ${accept}\r\n`))),
      ),
  },
  texts(
    'content-type',
    ['2xx', '4xx'],
    ...[';'.repeat(long), ' '.repeat(long), 'charset='.repeat(1_800), `application/json${';charset=utf-8'.repeat(1_000)}`].map(
      (value) => `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: ${value}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  ),
  texts(
    'authorization',
    ['2xx', '4xx'],
    ...[
      `Token${' '.repeat(long)}a b`,
      `Token ${'a '.repeat(long / 2)}`,
      ' '.repeat(long),
      `Token ugk_${'0'.repeat(long)}`,
      `Bearer${' '.repeat(long)}`,
    ].map((value) => post(`Authorization: ${value}\r\n`)),
  ),
  texts(
    'other-headers',
    ['2xx', '4xx'],
    ...[
      `X-Request-Id: ${'a.'.repeat(long / 2)}\r\n`,
      `Cookie: ${'a=b;'.repeat(long / 4)}\r\n`,
      'A:b\r\n'.repeat(1_900),
      'Expect: 100-continue\r\n',
      `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_800)}\r\n`,
    ].map((headers) => post(headers)),
  ),
  {
    ...texts(
      'headers-too-large',
      ['4xx'],
      `GET / HTTP/1.1\r\nHost: a\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`,
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    ),
    refusals: ['HEADERS_TOO_LARGE'],
  },
  texts(
    'targets',
    ['2xx', '4xx', 'errors'],
    ...[
      '/'.repeat(long),
      `/docs/errors/${'A'.repeat(long)}`,
      `http://${'a'.repeat(long)}`,
      `a${'a+'.repeat(long / 2)}`,
      `/docs/${'-'.repeat(long)}/x`,
      '*',
      `/graphql?${'&'.repeat(long)}`,
      `/api/user?${'%'.repeat(long)}`,
      `/graphql?query=${'%7B'.repeat(long / 3)}`,
    ].map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
  ),
  texts('two-hosts', ['4xx'], `GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`, post('Host: b\r\n')),
  texts('no-host', ['4xx'], 'GET /livez HTTP/1.1\r\n\r\n', 'GET /livez HTTP/1.1\r\nA: b\r\n\r\n'),
  texts(
    'http-1.0',
    ['2xx', '4xx'],
    'GET /livez HTTP/1.0\r\n\r\n',
    'GET /livez HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n',
  ),
  texts(
    'framing',
    ['4xx'],
    post('Transfer-Encoding: chunked\r\n', `18\r\n${body}\r\n0\r\n\r\n`),
    `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`,
    'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n',
    'POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n',
    'POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
    'POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n',
    'GET /livez HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n',
    'GET /livez HTTP/9.9\r\nHost: a\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ),
  texts(
    'methods',
    ['2xx', '4xx', 'errors', 'closed'],
    ...['CONNECT a:1', 'TRACE /', 'OPTIONS *', 'PROPFIND /', 'DELETE /api/user'].map(
      (start) => `${start} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    ),
    'GET /graphql HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  ),
  {
    name: 'large-chunked-body',
    refusals: ['PAYLOAD_TOO_LARGE'],
    send: ({ connections }) => {
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      return connections.openMany(20, () => ({
        bytes: `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(40)}`,
      }));
    },
  },
  {
    name: 'tiny-chunks',
    refusals: ['PAYLOAD_TOO_LARGE'],
    expects: ['4xx', '503', 'closed'],
    send: ({ connections }) => {
      const head = 'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
      const bytes = Buffer.from(`${head}${'1\r\n[\r\n'.repeat(900_000)}0\r\n\r\n`);
      return connections.openMany(4, () => ({ bytes }));
    },
  },
  {
    // As much as Node.js reads of each connection at once, which it parses to its end whatever becomes of the request. From more
    // connections than these, only a proxy that buffers requests keeps it.
    name: 'tiny-chunks-of-many',
    maxLivezMs: 1_000, // 545,000 chunks, of which each takes more than a microsecond
    expects: ['4xx', '503', 'closed'],
    refusals: ['NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
    send: ({ connections }) => {
      const head = 'POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
      const bytes = Buffer.from(`${head}${'1\r\n[\r\n'.repeat(10_900)}`);
      return connections.openMany(50, () => ({ bytes }));
    },
  },
];
