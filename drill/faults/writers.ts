import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/process.ts';
import { createAgent, isRefusal, type Reply, send, sendGraphQL } from '../client.ts';
import type { ScenarioContext } from '../scenario.ts';

/** A group, with what its writer knows of it. */
export interface KnownGroup {
  readonly id: string;
  readonly teamId: number;
  /** The highest number that an acknowledged update, and any update, has written as its name. */
  acknowledgedName: number;
  sentName: number;
  /** The names of updates without a key and without an outcome: the database may make one later, after others. */
  readonly unknownNames: number[];
  /** Undefined while it is unknown whether a rotation was executed. */
  token: string | undefined;
  /** How many rotations were acknowledged, and how many may have been executed besides. */
  rotations: number;
  unknownRotations: number;
}

/** Concurrent writers: creates, updates and rotations, with and without an Idempotency-Key. */
export interface Writers {
  /** Writes that were acknowledged so far. */
  readonly acknowledged: number;
  /** Requests without a response. */
  readonly closed: number;
  /** Those of them that were sent: their connection was not refused. */
  readonly cutOff: number;
  /** Responses 503 and 429 with Retry-After. */
  readonly refused: number;
  /** Requests that were sent again with their Idempotency-Key and got the stored response. */
  readonly replayed: number;
  /** Responses that should not exist. */
  readonly wrong: readonly string[];
  /** When a write was last acknowledged, by `performance.now()`. */
  readonly lastAcknowledgedAt: number;
  /** The longest time between two of them since it was set to 0. */
  longestPauseMs: number;
  /** Waits until `count` writes that were sent after this call are acknowledged. */
  more(count: number): Promise<void>;
  /** The groups as they are known now. */
  snapshot(): readonly KnownGroup[];
  /** Ends the writers; waits for their last responses. */
  stop(): Promise<void>;
}

const rotation = `mutation ($currentToken: String!) {
  result: rotateUserGroupToken(input: { currentToken: $currentToken }) {
    ... on RotateUserGroupTokenPayload { userGroup { token } } ... on Error { code message }
  }
}`;

const creation = `mutation ($providedId: String!) {
  result: getOrCreateUserGroup(input: { providedId: $providedId, name: "0" }) {
    ... on GetOrCreateUserGroupPayload { userGroup { teamId token } } ... on Error { code message }
  }
}`;

/** Pause after a request that was not served, so that waiting costs little. */
const retryMs = 20;

let runs = 0;

/**
 * Starts writers. They end with the scenario at the latest.
 *
 * @param port returns the port of the gateway to use for the next request.
 * @param paceMs how long each writer pauses before it creates a group.
 */
export function startWriters(port: () => number, token: string, { onEnd }: ScenarioContext, count = 8, paceMs = 0): Writers {
  runs += 1;
  const run = runs;
  const groups: KnownGroup[] = [];
  const counts = {
    acknowledged: 0,
    closed: 0,
    cutOff: 0,
    refused: 0,
    replayed: 0,
    lastAcknowledgedAt: performance.now(),
    longestPauseMs: 0,
  };
  const wrong: string[] = [];
  const agent = createAgent();
  let stopped = false;
  let abandoned = false;
  let keys = 0;
  /** The writes whose outcome is not known yet, with their last response. */
  const open = new Map<number, { readonly keyed: boolean; readonly sinceMs: number; last: string }>();

  function note(reply: Reply): Reply {
    if (reply.status === 0) {
      counts.closed += 1;
      if (reply.text !== 'ECONNREFUSED') counts.cutOff += 1;
    } else if (reply.status === 503 || reply.status === 429) {
      if (isRefusal(reply)) counts.refused += 1;
      else wrong.push(`${reply.status} ${reply.text.slice(0, 300)}`);
    }
    return reply;
  }

  /** Sends a write until its outcome is known: with a key until it is served, without one once. */
  async function write(keyed: boolean, request: (key: string | undefined) => Promise<Reply>): Promise<Reply | undefined> {
    keys += 1;
    const number = keys;
    const key = keyed ? `${run}-${number}` : undefined;
    const state = { keyed, sinceMs: performance.now(), last: 'none' };
    open.set(number, state);
    while (!abandoned) {
      const reply = note(await request(key));
      state.last = `${reply.status} ${reply.text.slice(0, 300)}`;
      // Without a response, or with 503, it is unknown whether the write was executed.
      const isOpen = [0, 429, 503].includes(reply.status) || (keyed && reply.text.includes('"IDEMPOTENCY_KEY_IN_USE"'));
      if (!isOpen) {
        open.delete(number);
        if (reply.status !== 200 || reply.json?.errors || reply.json?.data?.result?.code) {
          wrong.push(`${reply.status} ${reply.text.slice(0, 300)}`);
          return undefined;
        }
        if (reply.headers.get('idempotency-replayed') === 'true') counts.replayed += 1;
        counts.acknowledged += 1;
        const now = performance.now();
        counts.longestPauseMs = Math.max(counts.longestPauseMs, now - counts.lastAcknowledgedAt);
        counts.lastAcknowledgedAt = now;
        return reply;
      }
      await pause(retryMs);
      if (!keyed) {
        open.delete(number);
        return undefined;
      }
    }
    return undefined;
  }

  async function create(id: string, keyed: boolean): Promise<KnownGroup | undefined> {
    const body = { user_group_id: id, name: '0' };
    const reply = await write(keyed, (idempotencyKey) =>
      idempotencyKey
        ? sendGraphQL(port(), creation, { providedId: id }, { token, agent, idempotencyKey })
        : send(port(), 'GET', '/api/user', { token, body, agent }),
    );
    if (!reply) return undefined;
    const made = reply.json.user_group ?? reply.json.data.result.userGroup;
    const { team_id = made.teamId, token: groupToken } = made;
    const group = {
      id,
      teamId: team_id,
      token: groupToken,
      acknowledgedName: 0,
      sentName: 0,
      unknownNames: [],
      rotations: 0,
      unknownRotations: 0,
    };
    groups.push(group);
    return group;
  }

  async function update(group: KnownGroup, keyed: boolean): Promise<void> {
    group.sentName += 1;
    const name = group.sentName;
    const body = { user_group_id: group.id, name: String(name) };
    const reply = await write(keyed, (idempotencyKey) =>
      send(port(), 'PUT', '/api/user', { token, body, agent, ...(idempotencyKey && { idempotencyKey }) }),
    );
    if (reply) group.acknowledgedName = name;
    else group.unknownNames.push(name);
  }

  async function rotate(group: KnownGroup, keyed: boolean): Promise<void> {
    const current = group.token;
    if (current === undefined) return;
    group.token = undefined;
    group.unknownRotations += 1;
    const body = { current_token: current };
    const reply = await write(keyed, (idempotencyKey) =>
      idempotencyKey
        ? send(port(), 'POST', '/api/user', { token, body, agent, idempotencyKey })
        : sendGraphQL(port(), rotation, { currentToken: current }, { token, agent }),
    );
    if (!reply) return;
    group.unknownRotations -= 1;
    group.rotations += 1;
    group.token = (reply.json.user_group ?? reply.json.data.result.userGroup).token;
  }

  async function work(writer: number): Promise<void> {
    for (let step = 0; !stopped; step += 1) {
      if (paceMs > 0) await pause(paceMs);
      const keyed = step % 2 === 0;
      const group = await create(`run ${run} writer ${writer} group ${step}`, keyed);
      if (!group) continue;
      await update(group, keyed);
      if (!stopped) await rotate(group, keyed);
      if (!stopped) await update(group, !keyed);
      if (!stopped && keyed) await rotate(group, true);
    }
  }

  const working = Promise.all(Array.from({ length: count }, (_, writer) => work(writer)));
  const stop = async () => {
    stopped = true;
    await working;
    agent.destroy();
  };
  onEnd(() => {
    abandoned = true;
    return stop();
  });

  return Object.assign(counts, {
    wrong,
    async more(needed: number) {
      const wanted = counts.acknowledged + needed;
      const describe = () => {
        const now = performance.now();
        const writes = [...open.values()].map(
          ({ keyed, sinceMs, last }) => `${keyed ? 'keyed' : 'no key'}, ${Math.round(now - sinceMs)} ms, last response ${last}`,
        );
        const missing = wanted - counts.acknowledged;
        return `${needed} writes are acknowledged: ${missing} are missing; ${wrong[0] ?? 'no wrong response'}; open: ${writes.join('; ')}`;
      };
      await until(() => counts.acknowledged >= wanted, describe);
    },
    snapshot: () => groups.map((group) => ({ ...group })),
    stop,
  });
}
