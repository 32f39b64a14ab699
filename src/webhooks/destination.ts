import { type LookupAddress, type LookupAllOptions, lookup as lookUpName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Networks that deliveries may reach although they are not public: CIDRs, such as `10.1.0.0/16`. */
export type AllowedNetworks = readonly string[];

/** A destination that deliveries must not reach. The message names the address, for the administrator of the webhook. */
export class RefusedDestination extends Error {
  override readonly name = 'RefusedDestination';
}

/** Finds every address of a name, as `lookup` of node:dns does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Global unicast: every other IPv6 address is special, also where its range has no name. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Services of a cloud for its virtual machines, at addresses that look public. */
const cloudServices = new Set(['168.63.129.16']);

/** Whether an address is in one of these networks. */
function isInNetworks(address: string, networks: AllowedNetworks): boolean {
  const parsed = ipaddr.parse(address);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
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
 * @param resolve by default the resolver of the system.
 */
export function checkedLookup(protocol: string, allowedNetworks: AllowedNetworks, resolve: Resolve = lookUpName): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new RefusedDestination(`${hostname} has no address.`), []);
      try {
        for (const { address } of addresses) checkAddress(address, protocol, allowedNetworks);
      } catch (refusal) {
        return callback(refusal as Error, []);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
