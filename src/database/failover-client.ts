import { type LookupAddress, type LookupOptions, promises } from 'node:dns';
import { type LookupFunction, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { CodedClient } from './errors.ts';
import type { PrimaryDiscovery } from './primary-discovery.ts';

/** How long a look-up of a name may take before the addresses that it had last are used, as they are if the name server fails. */
const patienceMs = 500;

/** Finds the addresses of a host name. */
export type FindAddresses = (name: string, options: LookupOptions) => Promise<LookupAddress[]>;

/** What is known of a host name. */
interface Name {
  search: Promise<LookupAddress[]> | undefined;
  last: LookupAddress[] | undefined;
}

const findInSystem: FindAddresses = (name, options) => promises.lookup(name, { ...options, all: true });

/**
 * Creates a function that looks host names up, each once at a time. Node.js does two look-ups at once, for ten seconds each if
 * the name server does not respond: attempts to reach one such host would keep both occupied, and no other name could be
 * resolved.
 *
 * @param find finds the addresses; the system's by default.
 */
export function createHostLookup(find: FindAddresses = findInSystem): LookupFunction {
  const names = new Map<string, Name>();

  function addressesOf(host: string, options: LookupOptions): Promise<LookupAddress[]> {
    const name = names.get(host) ?? { search: undefined, last: undefined };
    names.set(host, name);
    name.search ??= find(host, options)
      .then((found) => {
        name.last = found;
        return found;
      })
      .finally(() => {
        name.search = undefined;
      });
    const { search, last } = name;
    if (!last) return search;
    const found = search.catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EAI_AGAIN') return last;
      throw error;
    });
    return Promise.race([found, sleep(patienceMs, last, { ref: false })]);
  }

  return (host, options, callback) => {
    addressesOf(host, options).then(
      (found) => {
        const [first] = found;
        if (options.all || !first) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/** Creates a function that opens the sockets of the driver, which finds their hosts with `lookup`. */
export function socketsWith(lookup: LookupFunction): () => Socket {
  return () => new LookingUpSocket(lookup);
}

class LookingUpSocket extends Socket {
  private readonly lookup: LookupFunction;

  constructor(lookup: LookupFunction) {
    super();
    this.lookup = lookup;
  }

  /** As the driver calls it: with a port and a host, or with the path of a Unix socket. */
  // biome-ignore lint/suspicious/noExplicitAny: the method has five overloads; the driver uses two of them
  override connect(target: any, host?: any): this {
    const { lookup } = this;
    return typeof target === 'number' ? super.connect({ port: target, host, lookup }) : super.connect(target);
  }
}

type Connected = (error: Error | null) => void;

/**
 * Creates the class of connections that lead to whichever of several servers takes writes. The driver knows one host only, and
 * reads it when it connects.
 */
export function failoverClient(discovery: PrimaryDiscovery): typeof pg.Client {
  return class extends CodedClient {
    readonly #socket: Socket;

    constructor(options: pg.ClientConfig) {
      const socket = discovery.openSocket();
      super({ ...options, stream: () => socket });
      this.#socket = socket;
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): unknown {
      if (callback) return this.#connect(callback);
      return new Promise((resolve, reject) => this.#connect((error) => (error ? reject(error) : resolve(this))));
    }

    #connect(callback: Connected): void {
      discovery.find().then((server) => {
        Object.assign(this, { host: server.host, port: server.port });
        discovery.track(this, this.#socket, server);
        super.connect((error: Error | null) => {
          if (error) discovery.failed(this, error);
          callback(error);
        });
      }, callback);
    }
  };
}
