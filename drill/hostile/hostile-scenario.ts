import type { Connections } from './connections.ts';
import type { Reply, RequestOptions } from './request.ts';

/** The target of a scenario, and ways to send requests to it. */
export interface Target {
  /** The caller's API tokens, by their scopes. */
  readonly tokens: {
    /** Every scope. */
    readonly admin: string;
    /** `groups:read` and `groups:write` in the Testing environment. */
    readonly groups: string;
    /** `groups:read` alone, to validate documents with. */
    readonly validate: string;
  };
  /** A group with 64 KiB of properties, whose provided id is `large`. */
  readonly large: { readonly id: string; readonly teamId: number; readonly token: string };
  /** Sends one request over a new connection. Never rejects. */
  send(options: RequestOptions): Promise<Reply>;
  /** Sends a GraphQL request as JSON; anonymous without a token. Never rejects. */
  graphql(params: object, token?: string): Promise<Reply>;
  /** Connections for what no HTTP client sends. */
  readonly connections: Connections;
}

/**
 * The outcome of a request. `4xx` is a status with a code and a message; `errors` is a 200 whose `errors` all have a code;
 * `closed` is a connection that the gateway closes without a response; `held` is one that the scenario itself closes without a
 * response.
 */
export type Outcome = '2xx' | '4xx' | '503' | 'errors' | 'closed' | 'held';

/** A hostile request, or a set of them. */
export interface HostileScenario {
  /** In kebab case; `--only` accepts it or a prefix of it. */
  readonly name: string;
  /** Each outcome must be one of these; only `4xx` by default. */
  readonly expects?: readonly Outcome[];
  /**
   * At least one outcome must be one of these, so that a scenario does not pass if its requests were rejected for another reason.
   * Those that were refused before they were executed do not count.
   */
  readonly someExpect?: readonly Outcome[];
  /**
   * The codes with which a request of this scenario may be refused before it is executed, if the scenario is about that.
   * Otherwise none with a credential may be, nor all of those without, for then the scenario would not reach what it is about.
   */
  readonly refusals?: readonly string[];
  /** How long the scenario may take before the drill closes its connections, in milliseconds; 40,000 by default. */
  readonly timeoutMs?: number;
  /** How long each response may take, in milliseconds; not limited by default, because scenarios hold connections on purpose. */
  readonly maxReplyMs?: number;
  send(target: Target): Promise<readonly Reply[]>;
}
