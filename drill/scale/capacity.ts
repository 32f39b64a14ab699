import { processorMs } from '../../test/support/processes.ts';
import { createClient } from './client.ts';

/** Look-ups by many concurrent callers. */
export interface Capacity {
  readonly perSecond: number;
  /** Processor time per request, of the gateways and of PostgreSQL, in microseconds. */
  readonly gatewayUs: number;
  readonly databaseUs: number;
}

const requests = 6_000;
const concurrency = 24;

const create = 'mutation { getOrCreateUserGroup(input: { providedId: "capacity" }) { __typename } }';
const lookUp = '{ userGroup(by: { providedId: "capacity" }) { teamId name token } }';

/** Sends look-ups to every gateway in turn, from this process. @throws Error when one is not served. */
export async function measureCapacity(
  ports: readonly number[],
  admin: string,
  pids: { readonly gateways: readonly number[]; readonly postmaster: number },
): Promise<Capacity> {
  const clients = ports.map(createClient);
  const send = async (index: number, query: string) => {
    const reply = await clients[index % clients.length]?.send(admin, query, {});
    if (reply?.outcome !== 'served') throw new Error(`A request was not served: ${reply?.text}`);
  };
  await send(0, create);
  for (let index = 0; index < 50 * clients.length; index += 1) await send(index, lookUp);
  const gatewaysMs = () => pids.gateways.reduce((sum, pid) => sum + processorMs(pid), 0);
  const before = { at: performance.now(), gateways: gatewaysMs(), postmaster: processorMs(pids.postmaster) };
  let next = 0;
  const caller = async () => {
    while (next < requests) {
      next += 1;
      await send(next, lookUp);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const seconds = (performance.now() - before.at) / 1_000;
  for (const client of clients) client.close();
  return {
    perSecond: requests / seconds,
    gatewayUs: ((gatewaysMs() - before.gateways) * 1_000) / requests,
    databaseUs: ((processorMs(pids.postmaster) - before.postmaster) * 1_000) / requests,
  };
}

/** As a note of a scenario. */
export const describeCapacity = ({ perSecond, gatewayUs, databaseUs }: Capacity): string =>
  `${Math.round(perSecond)} look-ups/s; processor time of each: gateway ${Math.round(gatewayUs)} µs, PostgreSQL ${Math.round(databaseUs)} µs`;
