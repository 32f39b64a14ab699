import { setTimeout as pause } from 'node:timers/promises';
import type { EventEnvironment } from '../../src/generated/prisma/client.ts';
import { createAgent, isRefusal, type Reply, send, sendGraphQL } from '../client.ts';
import type { ScenarioContext } from '../scenario.ts';

/** How a follower reads the event feed. */
export interface FollowerOptions {
  readonly name: string;
  readonly token: string;
  /** What the token may read. */
  readonly environments: readonly EventEnvironment[];
  readonly api: 'GraphQL' | 'REST';
  /** Such as `user_group.updated`; by default all. */
  readonly types?: readonly string[];
  readonly limit: number;
  /** 0 asks again and again. */
  readonly waitSeconds: number;
}

/** An event that a follower was given. */
export interface Seen {
  /** Its global ID. */
  readonly id: string;
  /** When it arrived, by `performance.now()`. */
  readonly atMs: number;
}

/** A reader that stores its cursor after each page, and begins again with it after errors, as `docs/events.md` says. */
export interface Follower extends FollowerOptions {
  readonly seen: readonly Seen[];
  /** Responses 503 and 429, and requests without a response. */
  readonly errors: number;
  /** Pages that it forgot before it stored the cursor, and was given again. */
  readonly forgotten: number;
  /** Responses that should not exist. */
  readonly wrong: readonly string[];
  /** Ends it once it has read the feed to its end. */
  finish(): Promise<void>;
}

interface Page {
  readonly ids: readonly string[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

const query = `query ($after: String, $first: Int, $types: [EventType!], $waitSeconds: Int) {
  eventFeed(after: $after, first: $first, types: $types, waitSeconds: $waitSeconds) { nodes { id } cursor hasMore } }`;

/** The pause after an error, and of a follower that does not wait after each page without events. */
const pauseMs = 100;

/** How often a follower forgets a page, as one does that is killed before it stores the cursor. */
const forgetfulness = 0.1;

/** Starts a follower at the oldest event. @param port returns the port of the gateway to use for the next request. */
export function startFollower(port: () => number, options: FollowerOptions, { onEnd }: ScenarioContext): Follower {
  const { token, api, types, limit, waitSeconds } = options;
  const seen: Seen[] = [];
  const wrong: string[] = [];
  const agent = createAgent();
  const state = { errors: 0, forgotten: 0 };
  let cursor: string | undefined;
  let until: 'the end' | 'now' | undefined;

  const request = (): Promise<Reply> => {
    const wait = until ? 0 : waitSeconds;
    if (api === 'GraphQL') {
      const variables = { after: cursor, first: limit, types: types?.map(enumName), waitSeconds: wait };
      return sendGraphQL(port(), query, variables, { token, agent });
    }
    const parameters = { limit, wait_seconds: wait, ...(types && { types: types.join() }), ...(cursor && { after: cursor }) };
    const search = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
    return send(port(), 'GET', `/api/events?${search}`, { token, agent });
  };

  async function read(): Promise<Page | undefined> {
    const reply = await request();
    const page = reply.status === 200 ? pageOf(reply) : undefined;
    if (page) return page;
    if (reply.status === 0 || isRefusal(reply)) state.errors += 1;
    else wrong.push(`${options.name}: ${reply.status} ${reply.text.slice(0, 300)}`);
    await pause(pauseMs);
    return undefined;
  }

  async function follow(): Promise<void> {
    while (until !== 'now') {
      const goal = until;
      const page = await read();
      if (!page) continue;
      if (page.ids.length > 0 && Math.random() < forgetfulness) {
        state.forgotten += 1;
        continue;
      }
      const atMs = performance.now();
      seen.push(...page.ids.map((id) => ({ id, atMs })));
      cursor = page.cursor;
      if (goal === 'the end' && page.ids.length === 0 && !page.hasMore) return;
      if (waitSeconds === 0 && page.ids.length === 0) await pause(pauseMs);
    }
  }

  const following = follow();
  const end = async (when: typeof until) => {
    until = when;
    await following;
  };
  onEnd(async () => {
    await end('now');
    agent.destroy();
  });
  return Object.assign(state, {
    ...options,
    seen,
    wrong,
    finish: () => end('the end'),
  });
}

const enumName = (type: string): string => type.replace('.', '_').toUpperCase();

function pageOf({ json }: Reply): Page | undefined {
  const feed =
    json?.data?.eventFeed ?? (json?.success === 1 ? { ...json, nodes: json.events, hasMore: json.has_more } : undefined);
  return feed && { ids: feed.nodes.map(({ id }: { readonly id: string }) => id), cursor: feed.cursor, hasMore: feed.hasMore };
}
