import type { Connections } from './connections.ts';
import type { Reply, RequestOptions } from './request.ts';

/** The target of a row, and ways to send requests to it. */
export interface Target {
  readonly port: number;
  /** The caller's API tokens, by their scopes. */
  readonly tokens: {
    /** Every scope. */
    readonly admin: string;
    /** `groups:read` and `groups:write` in the Testing environment. */
    readonly groups: string;
    /** `config:validate` alone. */
    readonly validate: string;
  };
  readonly data: SeededData;
  /** Sends one request over a new connection. Never rejects. */
  send(options: RequestOptions): Promise<Reply>;
  /** Sends a GraphQL request as JSON; anonymous without a token. Never rejects. */
  graphql(params: object, token?: string): Promise<Reply>;
  /** Connections for what no HTTP client sends. */
  readonly connections: Connections;
  /** Resolves after some time, or as soon as the row is over. */
  pause(milliseconds: number): Promise<void>;
}

/** The data that is stored before the first row. */
export interface SeededData {
  /** A group with 64 KiB of properties. */
  readonly large: { readonly id: string; readonly teamId: number; readonly token: string; readonly providedId: string };
}

/**
 * The outcome of a request. `4xx` is a status with a code and a message; `errors` is a 200 whose `errors` all have a code;
 * `closed` is a connection that the gateway closes without a response; `held` is one that the row itself closes without a
 * response.
 */
export type Outcome = '2xx' | '4xx' | '503' | 'errors' | 'closed' | 'held';

/** A hostile request, or a set of them. */
export interface Row {
  /** In kebab case; `--only` accepts it or a prefix of it. */
  readonly name: string;
  /** Each outcome must be one of these; only `4xx` by default. */
  readonly expects?: readonly Outcome[];
  /**
   * At least one outcome must be one of these, so that a row does not pass if its requests were rejected for another reason.
   * Those that were refused before they were executed do not count.
   */
  readonly someExpect?: readonly Outcome[];
  /**
   * The codes with which a request of this row may be refused before it is executed, if the row is about that. Otherwise none
   * with a credential may be, nor all of those without, for then the row would not reach what it is about.
   */
  readonly refusals?: readonly string[];
  /** How long the row may take before the drill closes its connections, in milliseconds; 40,000 by default. */
  readonly timeoutMs?: number;
  /** How long each response may take, in milliseconds; not limited by default, because rows hold connections on purpose. */
  readonly maxReplyMs?: number;
  /** A limit that replaces the default, for very many concurrent clients; with the reason in a comment. */
  readonly maxLivezMs?: number;
  send(target: Target): Promise<readonly Reply[]>;
}
