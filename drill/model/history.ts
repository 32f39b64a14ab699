import { setTimeout as pause } from 'node:timers/promises';
import { type Group, initialState, type Operation, type Requester, type Result, type State } from '../../test/support/model.ts';
import { callers, concrete, documents, groupFields, outcome, variables } from '../../test/support/model-operations.ts';
import { isKeyInUse, isUnknown, type Reply } from '../client.ts';
import { until } from '../wait.ts';
import { type Done, explain } from './explain.ts';
import { type Gateways, gatewayCount } from './gateways.ts';
import type { Call, Step } from './steps.ts';

/** What histories have had, together. */
export interface Coverage {
  histories: number;
  operations: number;
  crashes: number;
  /** Operations of which it is unknown whether they were executed, and requests whose response was fetched again. */
  unknown: number;
  refetched: number;
  replayed: number;
  /** Kinds of operations with their results. */
  readonly seen: Set<string>;
}

const bulk = `mutation ($input: GetOrCreateUserGroupsInput!) {
  result: getOrCreateUserGroups(input: $input) {
    ... on GetOrCreateUserGroupsPayload {
      results { ... on GetOrCreateUserGroupPayload { group: userGroup ${groupFields} created } ... on Error { code } }
    }
    ... on Error { code }
  }
}`;
const list = `query ($ids: [String!]!) {
  userGroups(first: 100, filter: { providedIds: $ids }) { totalCount nodes ${groupFields} }
}`;

/** A request as it was sent, with the response that it must have again. */
interface Keyed {
  readonly caller: number;
  readonly query: string;
  readonly variables: object;
  readonly key: string;
  readonly text: string;
}

/** Runs one history, on ids of its own. @throws Error when no order of the operations explains the responses or a list. */
export async function runHistory(gateways: Gateways, sequence: readonly Step[], coverage: Coverage): Promise<void> {
  coverage.histories += 1;
  const run = `history ${coverage.histories}`;
  const admin = callers.findIndex((caller) => caller.admin);
  const keyed: Keyed[] = [];
  let states: readonly State[] = [initialState];

  async function readList(gateway: number): Promise<Group[]> {
    const ids = [0, 1].map((id) => `${run} ${id}`);
    const { json, text } = await gateways.send(gateway, admin, list, { ids });
    const { nodes, totalCount } = json?.data?.userGroups ?? {};
    if (!nodes || nodes.length !== totalCount) throw new Error(`A list has other groups than it counts: ${text}`);
    return nodes;
  }

  /** Sends a request until it is known what became of it, if it has a key. */
  async function perform({ drafts, isBulk, gateway, isKeyed }: Call, operations: readonly Operation[]): Promise<Done[]> {
    const caller = drafts[0]?.caller ?? 0;
    const requester = callers[caller] as Requester;
    const [operation] = operations as [Operation];
    const query = isBulk ? bulk : documents[operation.kind];
    const given = isBulk ? { input: { groups: operations.map((each) => variables(each)['input']) } } : variables(operation);
    const isMutation = operation.kind !== 'find';
    const key = isKeyed && isMutation ? `${run}-${keyed.length}-${Math.random()}`.replaceAll(' ', '-') : undefined;
    let reply = await gateways.send(gateway, caller, query, given, key);
    if (key !== undefined && isOpen(reply)) {
      coverage.refetched += 1;
      for (let turn = gateway + 1; isOpen(reply); turn += 1) {
        await pause(5);
        reply = await gateways.send(turn % gatewayCount, caller, query, given, key);
      }
    }
    coverage.operations += operations.length;
    if (isUnknown(reply)) {
      if (!isMutation) return []; // a read without a response says nothing
      coverage.unknown += operations.length;
      return operations.map((each) => ({ requester, operation: each, result: undefined }));
    }
    if (key !== undefined) keyed.push({ caller, query, variables: given, key, text: reply.text });
    const results = isBulk ? bulkResults(reply, operations.length) : [resultOf(operation, reply)];
    return operations.map((each, index) => {
      const result = results[index] as Result;
      coverage.seen.add(`${isBulk ? 'bulk ' : ''}${each.kind} ${outcome(result)}`);
      return { requester, operation: each, result };
    });
  }

  for (const [number, { calls, crash }] of sequence.entries()) {
    const sent = calls.map((call) =>
      perform(
        call,
        call.drafts.map((each) => concrete(each, states[0] as State, run)),
      ),
    );
    if (crash) {
      await pause(crash.afterMs);
      await gateways.kill(crash.gateway);
      await gateways.restart(crash.gateway);
      coverage.crashes += 1;
    }
    const done = (await Promise.all(sent)).flat();
    if (crash) await gateways.settle();
    const listed = await readList(number % gatewayCount);
    const after = explain(states, done, listed);
    if (after.length === 0) throw new Error(describe(run, number, { states, done, listed }));
    states = after;
  }

  // Every response that was kept is sent again, by any gateway, and nothing is executed again.
  const before = await readList(0);
  for (const [index, { caller, query, variables: given, key, text }] of keyed.entries()) {
    const reply = await until(async () => {
      const again = await gateways.send(index % gatewayCount, caller, query, given, key);
      return isOpen(again) ? undefined : again;
    }, 'a request is replayed');
    if (reply.text !== text) throw new Error(`${run}: a replayed response is another: ${reply.text}, first was ${text}`);
    coverage.replayed += 1;
  }
  if (JSON.stringify(await readList(1)) !== JSON.stringify(before))
    throw new Error(`${run}: replayed requests were executed again`);
}

/** Whether a request with a key must be sent again to learn its outcome. */
const isOpen = (reply: Reply): boolean => isUnknown(reply) || isKeyInUse(reply);

function resultOf({ kind }: Operation, { json, text }: Reply): Result {
  const { data, errors } = json ?? {};
  if (errors) return { code: errors[0].extensions.code };
  if (!data) throw new Error(`Neither data nor errors: ${text}`);
  return kind === 'find' ? { group: data.group } : data.result;
}

function bulkResults({ json, text }: Reply, count: number): Result[] {
  const { results } = json?.data?.result ?? {};
  if (results?.length !== count) throw new Error(`Another number of results than of groups: ${text}`);
  return results;
}

function describe(run: string, step: number, what: object): string {
  return `${run}, step ${step}: no order explains ${JSON.stringify(what, (_, value) => (value instanceof Map ? [...value] : value))}`;
}
