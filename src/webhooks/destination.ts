import { type LookupAddress, type LookupAllOptions, lookup as lookUpName } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Networks that deliveries may reach although they are not public: CIDRs, such as `10.1.0.0/16`. */
export type AllowedNetworks = readonly string[];

/** A destination that deliveries must not reach. The message names the address, for the administrator of the webhook. */
export class RefusedDestination extends Error {
  override readonly name = 'RefusedDestination';
}

/** Finds every address of a name, as `lookup` of node:dns does. The signal ends it early. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  signal?: AbortSignal,
) => void;

/** How long a name server has for the first of two tries. */
const nameServerTimeoutMs = 2_000;

/**
 * Creates what finds addresses by asking name servers, IPv4 first. It does not read `/etc/hosts`, except for `localhost`, and
 * takes names as they are. `lookup` of node:dns does both, on two threads that the whole process shares: a name server that does
 * not respond would keep everybody else waiting, also for the address of the database.
 *
 * @param servers by default those of the system.
 */
export function createResolve(servers?: readonly string[]): Resolve {
  return (hostname, options, callback, signal) => {
    if (hostname === 'localhost') return lookUpName(hostname, options, callback);
    const resolver = new Resolver({ timeout: nameServerTimeoutMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    signal?.addEventListener('abort', () => resolver.cancel());
    const found = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    void Promise.allSettled(found).then(([v4, v6]) => {
      const addresses = [
        ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
        ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
      ];
      callback(addresses.length === 0 && v4.status === 'rejected' ? v4.reason : null, addresses);
    });
  };
}

/** Global unicast: every other IPv6 address is special, also where its range has no name. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Services of a cloud for its virtual machines, at addresses that look public. */
const cloudServices = new Set(['168.63.129.16']);

/** Networks as they are compared. Reading one takes longer than everything else that a delivery computes. */
const parsedNetworks = new Map<string, ReturnType<typeof ipaddr.parseCIDR>>();

function parseNetwork(network: string): ReturnType<typeof ipaddr.parseCIDR> {
  const parsed = parsedNetworks.get(network) ?? ipaddr.parseCIDR(network);
  parsedNetworks.set(network, parsed);
  return parsed;
}

/** Whether an address is in one of these networks. */
function isInNetworks(address: string, networks: AllowedNetworks): boolean {
  const parsed = ipaddr.parse(address);
  return networks.some((network) => {
    const [base, bits] = parseNetwork(network);
    return base.kind() === parsed.kind() && parsed.match(base, bits);
  });
}

/** Why an address is not a public one: the name of its range, such as `private`; undefined if it is public. */
function specialRange(address: string): string | undefined {
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (cloudServices.has(address)) return 'cloud';
  return parsed.kind() === 'ipv6' && !parsed.match(globalUnicast) ? 'reserved' : undefined;
}

/**
 * Checks an address that a delivery would connect to: over https, public ones and those of the allowed networks; over http, the
 * latter alone.
 *
 * @param protocol of the URL, such as `https:`.
 * @throws RefusedDestination
 */
export function checkAddress(address: string, protocol: string, allowedNetworks: AllowedNetworks): void {
  if (isInNetworks(address, allowedNetworks)) return;
  const range = specialRange(address);
  if (range) throw new RefusedDestination(`The address ${address} is not public (${range}), nor in WEBHOOKS_ALLOWED_NETWORKS.`);
  if (protocol !== 'https:')
    throw new RefusedDestination(`The address ${address} is not in WEBHOOKS_ALLOWED_NETWORKS: only https may be used.`);
}

/** The address that is the host of a URL; undefined if it is a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? undefined : host;
}

/**
 * Creates the `lookup` option of a connection, which resolves a name once, and fails with {@link RefusedDestination} unless every
 * address of it may be reached. So the address that is connected to is one that was checked. It is not called for a host that is
 * an address: see {@link literalAddress}.
 *
 * @param signal ends a look-up early.
 */
export function checkedLookup(
  protocol: string,
  allowedNetworks: AllowedNetworks,
  resolve: Resolve,
  signal?: AbortSignal,
): LookupFunction {
  return (hostname, options, callback) => {
    const check: Parameters<Resolve>[2] = (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new RefusedDestination(`${hostname} has no address.`), []);
      try {
        for (const { address } of addresses) checkAddress(address, protocol, allowedNetworks);
      } catch (refusal) {
        return callback(refusal as Error, []);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    resolve(hostname, { ...options, all: true }, check, signal);
  };
}
