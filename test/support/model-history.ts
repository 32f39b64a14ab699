import fc from 'fast-check';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import type { Database } from '../../src/database/client.ts';
import { type Group, initialState, type Requester, type State } from './model.ts';
import { type Done, explain } from './model-explain.ts';
import { callers, concrete, type Draft, draft, draftOf, groupFields, outcome, requestOf, resultsOf } from './model-operations.ts';
import { contextOn } from './queries.ts';
import type { Reply } from './request.ts';

/** A request: one operation, or several creations in bulk. */
export interface Call {
  readonly drafts: readonly Draft[];
  readonly gateway: number;
  /** Whether it has an Idempotency-Key, if it is a mutation. */
  readonly isKeyed: boolean;
}

/** Concurrent requests. */
export type Step = readonly Call[];

/** A request as it is sent. */
export interface ModelRequest {
  /** The index of one of the {@link callers}. */
  readonly caller: number;
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly key?: string | undefined;
}

/** Gateways on one database. */
export interface Gateways {
  readonly count: number;
  /** Sends a request to one of them. */
  send(gateway: number, request: ModelRequest): Promise<Reply | undefined>;
}

/** What histories have had, together. */
export class Coverage {
  histories = 0;
  /** Requests that were sent again at the end of a history. */
  replayed = 0;
  /** Kinds of operations with their results. */
  readonly seen = new Set<string>();
}

const environments = { CUSTOMER: 'Customer', TESTING: 'Testing' } as const;

/** Issues the API tokens of the {@link callers}. @returns the headers of a request. */
export async function issueHeaders(database: Database): Promise<(request: ModelRequest) => Record<string, string>> {
  const secrets: string[] = [];
  for (const { tag, admin } of callers) {
    const scopes = admin ? (['admin'] as const) : (['groups:read', 'groups:write'] as const);
    const { secret } = await createApiToken(contextOn(database), {
      name: 'model',
      environmentTag: tag && environments[tag],
      scopes,
      expiresAt: null,
    });
    secrets.push(secret);
  }
  return ({ caller, key }) => ({
    authorization: `Token ${secrets[caller]}`,
    ...(key !== undefined && { 'idempotency-key': key }),
  });
}

/** Generates the steps of a history on this many gateways. */
export function stepsOn(gateways: number, _kills = false): fc.Arbitrary<Step[]> {
  const bulk = fc.tuple(draft, draft).map(([first, second]) => [
    { ...first, kind: 'getOrCreate' as const },
    // With another id, because the order of equal ones matters to no caller.
    { ...second, kind: 'getOrCreate' as const, caller: first.caller, id: 1 - first.id },
  ]);
  const call = fc.record({
    drafts: fc.oneof({ weight: 7, arbitrary: draft.map((each) => [each]) }, { weight: 1, arbitrary: bulk }),
    gateway: fc.nat({ max: gateways - 1 }),
    isKeyed: fc.boolean(),
  });
  return fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 5, maxLength: 14 });
}

/** A step of one request without a key. */
export const stepOf = (each: Parameters<typeof draftOf>[0], gateway = 0): Step => [
  { drafts: [draftOf(each)], gateway, isKeyed: false },
];

const list = `query ($ids: [String!]!) {
  userGroups(first: 100, filter: { providedIds: $ids }) { totalCount nodes ${groupFields} }
}`;

/** Whether nothing was changed: the same request would be executed again. */
const isRefusal = ({ json }: Reply): boolean => json?.errors !== undefined || json?.data?.result?.code !== undefined;

/**
 * Runs one history, on ids of its own. After each step, some order of its operations must explain every response and what a list
 * shows. In the end, the newest tokens are looked up, and every request with a key is sent again: it must get its first response,
 * and change nothing.
 *
 * @throws Error when it does not.
 */
export async function runHistory(gateways: Gateways, sequence: readonly Step[], coverage: Coverage): Promise<void> {
  coverage.histories += 1;
  const run = `history ${coverage.histories}`;
  const keyed: { readonly request: ModelRequest; readonly text: string }[] = [];
  let states: readonly State[] = [initialState];

  async function ask(gateway: number, request: ModelRequest): Promise<Reply> {
    const reply = await gateways.send(gateway % gateways.count, request);
    if (!reply || reply.status === 503) throw new Error(`${run}: no response, but ${reply?.text}`);
    return reply;
  }

  async function readList(gateway: number): Promise<Group[]> {
    const caller = draftOf({ kind: 'find' }).caller;
    const reply = await ask(gateway, { caller, query: list, variables: { ids: [`${run} 0`, `${run} 1`] } });
    const { nodes, totalCount } = reply.json?.data?.userGroups ?? {};
    if (!nodes || nodes.length !== totalCount) throw new Error(`A list has other groups than it counts: ${reply.text}`);
    return nodes;
  }

  async function perform({ drafts, gateway, isKeyed }: Call): Promise<Done[]> {
    const operations = drafts.map((each) => concrete(each, states[0] as State, run));
    const { caller = 0, kind } = drafts[0] ?? {};
    const requester = callers[caller] as Requester;
    const key = isKeyed && kind !== 'find' ? crypto.randomUUID() : undefined;
    const request = { caller, ...requestOf(operations), key };
    const reply = await ask(gateway, request);
    if (key !== undefined && !isRefusal(reply)) keyed.push({ request, text: reply.text });
    return resultsOf(operations, reply).map((result, index) => {
      coverage.seen.add(`${drafts.length > 1 ? 'bulk ' : ''}${kind} ${outcome(result)}`);
      return { requester, operation: operations[index] as Done['operation'], result };
    });
  }

  /** Goes on with the states that explain what was done. */
  function accept(done: readonly Done[], listed: readonly Group[], step: string): void {
    const after = explain(states, done, listed);
    if (after.length === 0) {
      const text = JSON.stringify({ states, done, listed }, (_, value) => (value instanceof Map ? [...value] : value));
      throw new Error(`${run}, ${step}: no order of the operations explains ${text}`);
    }
    states = after;
  }

  for (const [number, calls] of sequence.entries()) {
    const done = (await Promise.all(calls.map(perform))).flat();
    accept(done, await readList(number), `step ${number}`);
  }

  const before = await readList(0);
  // The newest tokens, also those that were replaced.
  const lookUps = Array.from({ length: 8 }, (_, token) => stepOf({ kind: 'find', token }, token));
  for (const done of await Promise.all(lookUps.flat().map(perform))) accept(done, before, 'look-ups');
  for (const [index, { request, text }] of keyed.entries()) {
    const reply = await ask(index, request);
    if (reply.text !== text) throw new Error(`${run}: a repeated request got ${reply.text}, the first time ${text}`);
    coverage.replayed += 1;
  }
  const after = await readList(1);
  if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error(`${run}: a repeated request was executed again`);
}
