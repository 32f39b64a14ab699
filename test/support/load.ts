import { type Reply, sendRequest } from './gateway.ts';
import { until } from './process.ts';

/** Callers that send requests of every kind sequentially, and record the responses. */
export interface Load {
  /** Every id of a successful response, with the token of the last one. */
  readonly stored: ReadonlyMap<string, string>;
  /** Every response, in order. */
  readonly replies: readonly Reply[];
  /** The error codes of requests without a response. */
  readonly failures: readonly string[];
  /** Waits until `count` requests that were sent after this call have succeeded. */
  successes(count: number): Promise<void>;
  /** Stops sending, and waits for pending responses. */
  stop(): Promise<void>;
}

const rotation = `mutation ($currentToken: String!) {
  rotateUserGroupToken(input: { currentToken: $currentToken, graceSeconds: 60 }) {
    ... on RotateUserGroupTokenPayload { userGroup { token } }
    ... on Error { code message }
  }
}`;

/** Starts to send. A caller that gets no response stops; the others continue. */
export function beginLoad(url: string, token: string, callers = 6): Load {
  const stored = new Map<string, string>();
  const replies: Reply[] = [];
  const failures: string[] = [];
  let stopped = false;
  let sent = 0;
  let lastSuccess = -1;
  let succeeded = 0;

  /** @returns whether it was a success. */
  async function send(method: string, path: string, body: object): Promise<Reply | undefined> {
    const number = sent++;
    const reply = await sendRequest(url, method, path, { token, body });
    replies.push(reply);
    if (reply.status !== 200) return undefined;
    lastSuccess = Math.max(lastSuccess, number);
    succeeded += 1;
    return reply;
  }

  async function call(caller: number): Promise<void> {
    for (let i = 0; !stopped; i += 1) {
      const id = `caller ${caller} group ${i}`;
      const made = await send('GET', '/api/user', { user_group_id: id, properties: { i } });
      if (!made) continue;
      stored.set(id, made.json.user_group.token);
      const currentToken = made.json.user_group.token;
      if (i % 3 === 0) await send('PUT', '/api/user', { user_group_id: id, name: 'changed' });
      if (i % 3 !== 1) continue;
      // Without a response it is unknown whether a rotation was executed.
      stored.delete(id);
      const rotated = await send('POST', '/graphql', { query: rotation, variables: { currentToken } });
      if (rotated) stored.set(id, rotated.json.data.rotateUserGroupToken.userGroup.token);
    }
  }

  const callersDone = Promise.all(
    Array.from({ length: callers }, (_, caller) =>
      call(caller).catch((error: NodeJS.ErrnoException) => void failures.push(error.code ?? error.message)),
    ),
  );
  return {
    stored,
    replies,
    failures,
    async successes(count) {
      const from = sent;
      const before = succeeded;
      await until(() => lastSuccess >= from && succeeded >= before + count, `${count} requests succeed`);
    },
    async stop() {
      stopped = true;
      await callersDone;
    },
  };
}

/** What the gateway knows of ids: the token of each, and none where the id was new to it. */
export async function tokensOf(url: string, token: string, ids: Iterable<string>): Promise<Map<string, string | undefined>> {
  const found = new Map<string, string | undefined>();
  await Promise.all(
    [...ids].map(async (id) => {
      const { json } = await sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: id } });
      found.set(id, json.new_user_group === false ? json.user_group.token : undefined);
    }),
  );
  return found;
}
