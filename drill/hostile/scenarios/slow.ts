import type { HostileScenario, Target } from '../hostile-scenario.ts';
import type { Reply } from '../request.ts';
import { aliases } from './introspection.ts';

const head = (bytes: number, token?: string) =>
  `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n` +
  `${token ? `Authorization: Token ${token}\r\n` : ''}\r\n`;

const request = (params: object, token?: string) => {
  const body = JSON.stringify(params);
  return `${head(Buffer.byteLength(body), token)}${body}`;
};

/** A request for the large properties a hundred times under each of some aliases: 6.5 MB of response for each. */
const largeResponse = (target: Target, aliasCount: number) => ({
  query: `query($ids:[ID!]!){nodes(ids:$ids){...on UserGroup{${aliases(aliasCount, 'properties')}}}}`,
  variables: { ids: Array(100).fill(target.large.id) },
});

/** Sends a request and reads its response, and then again over many connections that read nothing. */
async function readOneOf(target: Target, params: object, connectionCount: number, holdMs: number): Promise<Reply[]> {
  const read = await target.graphql(params, target.tokens.groups);
  const bytes = Buffer.from(request(params, target.tokens.groups));
  return [read, ...(await target.connections.openMany(connectionCount, () => ({ bytes, reads: 'never', holdMs })))];
}

/** Clients that do not read, do not finish, or are very numerous. */
export const slowScenarios: readonly HostileScenario[] = [
  {
    name: 'pipelined-unread',
    expects: ['closed', 'held', '2xx', '503'],
    timeoutMs: 15_000,
    send: (target) => {
      const { large } = target;
      const one = request(
        { query: `{${aliases(20, `userGroup(by:{teamId:${large.teamId}}){properties}`)}}` },
        target.tokens.groups,
      );
      const bytes = Buffer.from(one.repeat(200));
      return target.connections.openMany(50, () => ({ bytes, reads: 'never', holdMs: 10_000 }));
    },
  },
  {
    name: 'pipelined-livez-unread',
    expects: ['closed', 'held', '2xx'],
    timeoutMs: 12_000,
    send: ({ connections }) => {
      const bytes = Buffer.from('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20_000));
      return connections.openMany(20, () => ({ bytes, reads: 'never', holdMs: 8_000 }));
    },
  },
  {
    name: 'large-responses-unread',
    // 13 MB each. The first one is read, to see that it is not over a limit.
    expects: ['2xx', 'closed', 'held'],
    someExpect: ['2xx'],
    timeoutMs: 20_000,
    send: (target) => readOneOf(target, largeResponse(target, 2), 60, 10_000),
  },
  {
    name: 'response-never-read',
    timeoutMs: 90_000,
    // Tests the deadline for writing a response: without one, the connection would stay open forever.
    expects: ['closed'],
    send: async (target) => {
      const bytes = Buffer.from(request(largeResponse(target, 1), target.tokens.groups));
      const replies = await target.connections.openMany(3, () => ({ bytes, reads: 'late', holdMs: 70_000 }));
      // A refusal is small, and its connection would be closed for another reason.
      return replies.map((reply) =>
        reply.outcome !== 'closed' || reply.text.startsWith('HTTP/1.1 200 ') ? reply : { ...reply, outcome: 'unclear' },
      );
    },
  },
  {
    name: 'bodies-short-with-credential',
    expects: ['4xx', '503', 'closed', 'held'],
    someExpect: ['503'],
    timeoutMs: 20_000,
    send: (target) => {
      const bytes = Buffer.concat([Buffer.from(head(1_048_576, target.tokens.groups)), Buffer.alloc(1_048_575, '[')]);
      return target.connections.openMany(600, () => ({ bytes, holdMs: 12_000 }));
    },
  },
  {
    name: 'bodies-that-trickle',
    expects: ['4xx', '503', 'closed'],
    someExpect: ['4xx'],
    timeoutMs: 40_000,
    send: (target) => {
      const bytes = `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
      return target.connections.openMany(300, () => ({
        bytes,
        trickle: { everyMs: 50, chunk: '1\r\n[\r\n' },
        holdMs: 33_000,
      }));
    },
  },
];
