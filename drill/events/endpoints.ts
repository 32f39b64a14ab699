import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { EventEnvironment } from '../../src/generated/prisma/client.ts';
import { type Received, type Receiver, startReceiver } from '../../test/support/webhook-receiver.ts';
import type { Ends } from '../ends.ts';

/** Where the endpoints are. */
const permittedAddress = '127.0.0.2';

/** `WEBHOOKS_ALLOWED_NETWORKS` of the gateways: that address alone. */
export const permittedNetworks = `${permittedAddress}/32`;

/** An address that no delivery may reach. */
export const forbiddenAddress = '127.0.0.3';

/** A name whose address changes between the two: see {@link rebindingOptions}. */
export const rebindingName = 'rebinding.test';

/**
 * `NODE_OPTIONS` of a gateway for which every other look-up of {@link rebindingName} has the forbidden address, as a server of
 * names may respond that wants to get inside.
 */
export const rebindingOptions = `--import=data:text/javascript,${encodeURIComponent(`
  import { Resolver } from 'node:dns/promises';
  const { resolve4, resolve6 } = Resolver.prototype;
  let turn = 0;
  Resolver.prototype.resolve4 = async function (name, ...options) {
    if (name !== '${rebindingName}') return resolve4.call(this, name, ...options);
    turn += 1;
    return [turn % 2 === 0 ? '${forbiddenAddress}' : '${permittedAddress}'];
  };
  Resolver.prototype.resolve6 = async function (name, ...options) {
    return name === '${rebindingName}' ? [] : resolve6.call(this, name, ...options);
  };`)}`;

/** What an endpoint responds with until it is healed. */
export type Fault = 'hang' | 'cut' | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

/** What an endpoint is. */
export interface EndpointOptions {
  readonly name: string;
  /** By default all. */
  readonly types?: readonly string[];
  readonly environments?: readonly EventEnvironment[];
  /** The host of its URL; by default its address. */
  readonly host?: string;
  /** The fault of a request, by its number from 1; undefined for a response 200. */
  readonly faultOf?: (number: number, forbiddenUrl: string) => Fault | undefined;
}

/** A receiver of deliveries. */
export interface Endpoint extends EndpointOptions {
  readonly url: string;
  /** Where it redirects to: the forbidden address, where nothing may arrive. */
  readonly forbidden: Receiver;
  /** What it verifies deliveries with: one of these. */
  readonly secrets: string[];
  /** How often it responded with 200 to each event. */
  readonly accepted: ReadonlyMap<string, number>;
  readonly counts: { requests: number; faults: number; invalid: number; inFlight: number; mostInFlight: number };
  /** From now on it responds with 200. */
  heal(): void;
}

/** How long an endpoint takes, so that deliveries overlap. */
const responseMs = 20;

/** Starts an endpoint; it ends with the scenario. */
export async function startEndpoint({ onEnd }: Pick<Ends, 'onEnd'>, options: EndpointOptions): Promise<Endpoint> {
  const { host = permittedAddress, faultOf = () => undefined } = options;
  const secrets: string[] = [];
  const accepted = new Map<string, number>();
  const counts = { requests: 0, faults: 0, invalid: 0, inFlight: 0, mostInFlight: 0 };
  let isHealthy = false;

  const isValid = ({ headers, body }: Received) =>
    secrets.some((secret) => {
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    });

  async function respond(response: ServerResponse, delivery: Received): Promise<void> {
    counts.requests += 1;
    counts.inFlight += 1;
    counts.mostInFlight = Math.max(counts.mostInFlight, counts.inFlight);
    response.once('close', () => {
      counts.inFlight -= 1;
    });
    if (!isValid(delivery)) counts.invalid += 1;
    const fault = isHealthy ? undefined : faultOf(counts.requests, `${forbidden.url}/`);
    if (fault) counts.faults += 1;
    if (fault === 'hang') return;
    if (fault === 'cut') return void response.destroy();
    await pause(responseMs);
    if (fault) return void response.writeHead(fault.status, fault.headers).end();
    const id = String(delivery.headers['webhook-id']);
    accepted.set(id, (accepted.get(id) ?? 0) + 1);
    response.writeHead(200).end();
  }

  const receiver = await startReceiver((response, delivery) => void respond(response, delivery), permittedAddress);
  onEnd(() => receiver.close());
  const forbidden = await startReceiver(undefined, forbiddenAddress, receiver.port);
  onEnd(() => forbidden.close());
  return {
    ...options,
    url: `http://${host}:${receiver.port}/hooks`,
    forbidden,
    secrets,
    accepted,
    counts,
    heal() {
      isHealthy = true;
    },
  };
}
