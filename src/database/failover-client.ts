import type { Socket } from 'node:net';
import type pg from 'pg';
import { CodedClient } from './coded-pool.ts';
import type { PrimaryFinder } from './primary-finder.ts';

type Connected = (error: Error | null) => void;

/**
 * Creates the class of connections that lead to whichever of several servers takes writes. The driver knows one host only, and
 * reads it when it connects.
 */
export function failoverClient(finder: PrimaryFinder): typeof pg.Client {
  return class extends CodedClient {
    readonly #socket: Socket;

    constructor(options: pg.ClientConfig) {
      const socket = finder.openSocket();
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
      finder.find().then((server) => {
        Object.assign(this, { host: server.host, port: server.port });
        finder.track(this, this.#socket, server);
        super.connect((error: Error | null) => {
          if (error) finder.failed(this, error);
          callback(error);
        });
      }, callback);
    }
  };
}
