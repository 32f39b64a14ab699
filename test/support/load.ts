import { until } from './process.ts';
import { type Reply, sendRequest } from './request.ts';

/** Callers that send requests of every kind sequentially, and record the responses. */
export interface Load {
  /** Every id of a successful response, with the token of the last one. */
  readonly stored: ReadonlyMap<string, string>;
  /** Every response, in order. */
  readonly replies: readonly Reply[];
  /** The error codes of requests without a response. */
  readonly failures: readonly string[];
  /** Waits until `count` requests that were sent after this call have succeeded. */
  successes(count: number): Promise<unknown>;
  /** Stops sending, and waits for pending responses. */
  stop(): Promise<unknown>;
}

/** Starts to send. A caller that gets no response stops; the others continue. */
export function beginLoad(url: string, token: string, callers = 6): Load {
  const stored = new Map<string, string>();
  const replies: Reply[] = [];
  const failures: string[] = [];
  /** When each successful request was sent. */
  const succeededMs: number[] = [];
  let stopped = false;

  async function send(method: string, body: object): Promise<Reply | undefined> {
    const sentMs = performance.now();
    const reply = await sendRequest(url, method, '/api/user', { token, body });
    replies.push(reply);
    if (reply.status !== 200) return undefined;
    succeededMs.push(sentMs);
    return reply;
  }

  async function call(caller: number): Promise<void> {
    for (let i = 0; !stopped; i += 1) {
      const id = `caller ${caller} group ${i}`;
      const made = await send('GET', { user_group_id: id, properties: { i } });
      if (!made) continue;
      const { token: current_token } = made.json.user_group;
      stored.set(id, current_token);
      if (i % 3 === 0) await send('PUT', { user_group_id: id, name: 'changed' });
      if (i % 3 !== 1) continue;
      // Without a response it is unknown whether a rotation was executed.
      stored.delete(id);
      const rotated = await send('POST', { current_token, grace_seconds: 60 });
      if (rotated) stored.set(id, rotated.json.user_group.token);
    }
  }

  const sending = Array.from({ length: callers }, (_, caller) =>
    call(caller).catch((error: NodeJS.ErrnoException) => void failures.push(error.code ?? error.message)),
  );
  return {
    stored,
    replies,
    failures,
    successes(count) {
      const fromMs = performance.now();
      const isEnough = () => succeededMs.filter((sentMs) => sentMs >= fromMs).length >= count;
      return until(isEnough, `${count} requests succeed`);
    },
    stop() {
      stopped = true;
      return Promise.all(sending);
    },
  };
}

/** What the gateway knows of ids: the token of each, and none where the id was new to it. */
export async function tokensOf(url: string, token: string, ids: Iterable<string>): Promise<Map<string, string | undefined>> {
  const find = async (id: string) => {
    const { json } = await sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: id } });
    return [id, json.new_user_group === false ? json.user_group.token : undefined] as const;
  };
  return new Map(await Promise.all([...ids].map(find)));
}
