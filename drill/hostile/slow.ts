import type { HostileRequests, Target } from './hostile.ts';

const head = (bytes: number, token: string) =>
  `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n` +
  `Authorization: Token ${token}\r\n\r\n`;

const request = (params: object, token: string) => {
  const body = JSON.stringify(params);
  return `${head(Buffer.byteLength(body), token)}${body}`;
};

/** A request for the large properties a hundred times under each of some aliases: 6.5 MB of response for each. */
const largeResponse = ({ large }: Target, aliases: readonly string[]) => ({
  query: `query($ids:[ID!]!){nodes(ids:$ids){...on UserGroup{${aliases.map((alias) => `${alias}:properties`).join(' ')}}}}`,
  variables: { ids: Array(100).fill(large.id) },
});

/** Clients that do not read, do not finish, or are very numerous. */
export const slowScenarios: readonly HostileRequests[] = [
  {
    name: 'pipelined-unread',
    summary: '200 requests for large responses on each of 50 connections that read nothing',
    expects: ['closed', 'held', '2xx', '503'],
    send({ large, token, openMany }) {
      const selections = Array.from({ length: 20 }, (_, i) => `a${i}:userGroup(by:{teamId:${large.teamId}}){properties}`);
      const bytes = Buffer.from(request({ query: `{${selections.join(' ')}}` }, token).repeat(200));
      return openMany(50, () => ({ bytes, reads: 'never', holdMs: 10_000 }));
    },
  },
  {
    name: 'pipelined-livez-unread',
    summary: '20,000 small requests on each of 20 connections that read nothing',
    expects: ['closed', 'held', '2xx'],
    send({ openMany }) {
      const bytes = Buffer.from('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20_000));
      return openMany(20, () => ({ bytes, reads: 'never', holdMs: 8_000 }));
    },
  },
  {
    name: 'large-responses-unread',
    summary: 'responses of 13 MB on 60 connections that read nothing',
    expects: ['2xx', 'closed', 'held'],
    someExpect: ['2xx'],
    async send(target) {
      const params = largeResponse(target, ['a', 'b']);
      // This one is read, to see that it is not over a limit.
      const read = await target.graphql(params, target.token);
      const bytes = Buffer.from(request(params, target.token));
      return [read, ...(await target.openMany(60, () => ({ bytes, reads: 'never', holdMs: 10_000 })))];
    },
  },
  {
    name: 'response-never-read',
    summary: 'responses that nobody reads: the gateway closes their connections after a while',
    expects: ['closed'],
    async send(target) {
      const bytes = Buffer.from(request(largeResponse(target, ['a']), target.token));
      const results = await target.openMany(3, () => ({ bytes, reads: 'late', holdMs: 70_000 }));
      // A refusal is small, and its connection would be closed for another reason.
      return results.map((result) => (result.text.startsWith('HTTP/1.1 200 ') ? result : { ...result, outcome: 'unclear' }));
    },
  },
  {
    name: 'bodies-short-with-credential',
    summary: 'bodies of 1 MiB that lack their last byte, over 600 connections',
    expects: ['4xx', '503', 'closed', 'held'],
    someExpect: ['503'],
    send({ token, openMany }) {
      const bytes = Buffer.concat([Buffer.from(head(1_048_576, token)), Buffer.alloc(1_048_575, '[')]);
      return openMany(600, () => ({ bytes, holdMs: 12_000 }));
    },
  },
  {
    name: 'bodies-that-trickle',
    summary: 'bodies of a byte every 50 ms, over 300 connections',
    expects: ['4xx', '503', 'closed'],
    someExpect: ['4xx'],
    send({ openMany }) {
      const bytes = 'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
      return openMany(300, () => ({ bytes, trickle: { everyMs: 50, chunk: '1\r\n[\r\n' }, holdMs: 33_000 }));
    },
  },
];
